import { describe, expect, it } from 'vitest';
import { matchesAny } from './model-glob.js';
import { ModelRouter, type ModelRule } from './model-router.js';

const rule = (model?: string): ModelRule => ({
  engine: 'relay',
  upstreams: ['u'],
  ...(model === undefined ? {} : { model }),
});

describe('matchesAny', () => {
  it.each([
    ['*', '', true],
    ['*', 'anything', true],
    ['claude-*', 'claude-opus', true],
    ['claude-*', 'claude-', true],
    ['claude-*', 'my-claude-x', false],
    ['*-mini', 'gpt-mini', true],
    ['*-mini', 'gpt-mini-2', false],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'axxc', false],
    ['ab*ba', 'aba', false],
    ['a*bc*c', 'abc', false],
    ['gpt-4', 'gpt-4', true],
    ['gpt-4', 'gpt-4o', false],
    ['gpt.4*', 'gptx4o', false],
  ])('%s on %s is %s', (pattern, name, expected) => {
    expect(matchesAny([pattern], name)).toBe(expected);
    expect(matchesAny(['other', pattern, 'x-*-x'], name)).toBe(expected);
  });
});

describe('Router', () => {
  const router = new ModelRouter({
    '*': rule('last'),
    'claude-*': rule('some-claude'),
    'claude-haiku-*': rule('small'),
    'claude-haiku-4': rule(),
    '*-4': rule('four'),
  });

  it.each([
    ['claude-haiku-4', 'claude-haiku-4', 'claude-haiku-4'],
    ['claude-haiku-4[1m]', 'claude-haiku-4', 'claude-haiku-4'],
    ['claude-haiku-5', 'claude-haiku-*', 'small'],
    ['claude-opus', 'claude-*', 'some-claude'],
    ['claude-opus[1m]', 'claude-*', 'some-claude'],
    ['gpt-4', '*-4', 'four'],
    ['else', '*', 'last'],
  ])('%s goes to %s as %s', (name, pattern, model) => {
    expect(router.route(name)).toMatchObject({ pattern, model });
  });

  it('finds a name behind the prefix that Claude Code wants to see', () => {
    const named = new ModelRouter({ 'gpt-5': rule('real'), 'anthropic/claude': rule('own') });
    expect(named.route('anthropic/gpt-5')).toMatchObject({ pattern: 'gpt-5', model: 'real' });
    expect(named.route('anthropic/claude')).toMatchObject({ pattern: 'anthropic/claude', model: 'own' });
    expect(named.route('anthropic/other')).toBeUndefined();
  });

  it.each([
    ['anthropic/gpt-5', '*', 'gpt-5'],
    ['anthropic/openai/gpt-5', '*', 'openai/gpt-5'],
    ['anthropic/claude-opus-5.5', '*', 'anthropic/claude-opus-5.5'],
    ['anthropic/mistral-7', 'mistral-*', 'mistral-7'],
    ['anthropic/own-1', 'anthropic/own-*', 'anthropic/own-1'],
  ])('%s goes to the glob %s as %s', (name, pattern, model) => {
    const globs = new ModelRouter({ '*': rule(), 'mistral-*': rule(), 'anthropic/own-*': rule() });
    expect(globs.route(name)).toMatchObject({ pattern, model });
    expect(globs.meant(name)).toBe(model);
  });

  it('keeps the asked name where the rule names none, without the suffix', () => {
    expect(new ModelRouter({ 'gpt-*': rule() }).route('gpt-5[1m]')?.model).toBe('gpt-5');
  });

  it('takes no other suffix away', () => {
    const named = new ModelRouter({ 'vision[beta]': rule(), vision: rule('plain') });
    expect(named.route('vision[beta]')).toMatchObject({ pattern: 'vision[beta]', model: 'vision[beta]' });
    expect(named.route('vision[1M]')).toMatchObject({ pattern: 'vision', model: 'plain' });
  });

  it('knows nothing where nothing matches, the second time too', () => {
    const named = new ModelRouter({ a: rule(), 'c-*': rule() });
    expect(named.route('b')).toBeUndefined();
    expect(named.route('b')).toBeUndefined();
  });

  it('gives every name its own answer, also when more were asked for than it remembers', () => {
    const globs = new ModelRouter({ 'a-*': rule(), 'b-*': rule('fixed'), '*-long': rule('long') });
    const long = `${'x'.repeat(500)}-long`;
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 1500; n++) {
        expect(globs.route(`a-${n}`)).toMatchObject({ pattern: 'a-*', model: `a-${n}` });
        expect(globs.route(`b-${n}`)).toMatchObject({ pattern: 'b-*', model: 'fixed' });
        expect(globs.route(`c-${n}`)).toBeUndefined();
      }
      expect(globs.route(long)).toMatchObject({ pattern: '*-long', model: 'long' });
    }
  });

  it('lists names, not globs', () => {
    expect([...router.named().keys()]).toEqual(['claude-haiku-4']);
  });
});
