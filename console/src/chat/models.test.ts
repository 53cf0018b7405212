import { describe, expect, it } from 'vitest';
import type { ModelWire } from '../../../src/server/console-api/wire/sessions.js';
import { findModel, firstModel, fits } from './models.js';

const model = (name: string, more: Partial<ModelWire> = {}): ModelWire => ({
  name,
  pattern: name.includes('*'),
  engine: 'relay',
  display_name: null,
  upstreams: ['u'],
  root: null,
  modes: [],
  configured_mode: 'ask',
  context_window: null,
  priced: false,
  ...more,
});

describe('the entry of a name', () => {
  const models = [model('*'), model('claude-*'), model('claude-opus-*'), model('claude-opus-5')];

  it('is the name itself, else the most specific pattern', () => {
    expect(findModel(models, 'claude-opus-5')?.name).toBe('claude-opus-5');
    expect(findModel(models, 'claude-opus-6')?.name).toBe('claude-opus-*');
    expect(findModel(models, 'claude-haiku')?.name).toBe('claude-*');
    expect(findModel(models, 'gpt')?.name).toBe('*');
    expect(findModel(models.slice(1), 'gpt')).toBeUndefined();
  });

  it('takes a pattern by its letters', () => {
    expect(fits('a.b-*', 'a.b-c')).toBe(true);
    expect(fits('a.b-*', 'axb-c')).toBe(false);
    expect(fits('claude-*', 'claude-')).toBe(true);
    expect(fits('*', '')).toBe(false);
  });
});

describe('the first model of a new chat', () => {
  it('is the last one that was used, while it is there', () => {
    const models = [model('coder', { engine: 'native' }), model('gpt')];
    expect(firstModel(models, 'gpt')).toBe('gpt');
    expect(firstModel(models, 'gone')).toBe('coder');
    expect(firstModel([model('gpt')], undefined)).toBe('gpt');
  });

  it('is the model of the catch-all pattern where nothing has a name', () => {
    expect(firstModel([model('*', { upstreams: ['demo'] })], undefined)).toBe('demo');
    expect(firstModel([model('claude-*')], undefined)).toBeUndefined();
    expect(firstModel([], undefined)).toBeUndefined();
  });
});
