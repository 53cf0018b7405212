import { describe, expect, it } from 'vitest';
import { probe } from '../../test/attacks/policy-probe.js';

describe('a policy', () => {
  it('asks, allows, denies by its mode where no rule matches', async () => {
    expect((await probe().read('a')).behaviour).toBe('ask');
    expect((await probe({ mode: 'allow' }).edit('a')).behaviour).toBe('allow');
    expect((await probe({ mode: 'deny' }).bash('ls')).behaviour).toBe('deny');
  });

  it('puts deny before ask before allow, whatever the order of sources', async () => {
    const all = probe({ allow: ['Read'], ask: ['Read(./b/**)'], deny: ['Read(./b/c)'] });
    expect((await all.read('a')).behaviour).toBe('allow');
    expect((await all.read('b/x')).behaviour).toBe('ask');
    expect((await all.read('b/c')).behaviour).toBe('deny');
  });

  it('takes the strictest over all effects of a call', async () => {
    const rules = probe({ mode: 'allow', deny: ['Read(./secret)'] });
    const decision = await rules.judge({
      tool: 'Copy',
      effects: [
        { kind: 'edit', path: `${rules.root}/a` },
        { kind: 'read', path: `${rules.root}/secret` },
      ],
    });
    expect(decision).toMatchObject({
      behaviour: 'deny',
      because: { kind: 'rule', rule: 'Read(./secret)', source: 'configuration', part: 'reading ./secret' },
    });
    expect(decision.message).toContain('Read(./secret)');
  });
});
