import { expect, it } from 'vitest';
import type { Extensions } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { loseForeign } from './foreign-extensions.js';

function lost(path: string, extensions: Extensions | undefined): string[] {
  const losses = new LossLog();
  loseForeign(path, extensions, 'openai-chat', losses);
  return losses.list().map((loss) => `${loss.path}: ${loss.reason}`);
}

it('names the fields that only another dialect has', () => {
  const extensions = { 'anthropic-messages': { container: 'c' }, 'openai-responses': { truncation: 'auto' } };
  expect(lost('', extensions)).toEqual([
    'container: only anthropic-messages has it',
    'truncation: only openai-responses has it',
  ]);
  expect(lost('messages.1', { 'anthropic-messages': { clear_at: 'never' } })).toEqual([
    'messages.1.clear_at: only anthropic-messages has it',
  ]);
});

it("is silent about the dialect's own fields and about none", () => {
  expect(lost('', { 'openai-chat': { logit_bias: { 1: 2 } } })).toEqual([]);
  expect(lost('', undefined)).toEqual([]);
  expect(lost('', {})).toEqual([]);
});

it.each<[string, unknown]>([
  ['betas', ['x']],
  ['speed', 'standard'],
  ['container', null],
  ['container', ''],
  ['fallbacks', []],
  ['compaction', {}],
  ['anything', false],
])('is silent about %s = %j, which changes no answer', (key, value) => {
  expect(lost('', { 'anthropic-messages': { [key]: value } })).toEqual([]);
});

it.each<[string, unknown, boolean]>([
  ['n', 1, true],
  ['n', 2, false],
  ['presence_penalty', 0, true],
  ['presence_penalty', 1, false],
  ['seed', 0, false],
  ['truncation', 'disabled', true],
])('knows the default of %s: %j', (key, value, silent) => {
  expect(lost('', { 'openai-responses': { [key]: value } })).toHaveLength(silent ? 0 : 1);
});

it.each<[string, string, unknown, boolean]>([
  ['', 'cache_control', { type: 'ephemeral' }, false],
  ['tools.x', 'cache_control', { type: 'ephemeral' }, true],
  ['', 'diagnostics', { previous_message_id: 'm' }, false],
  ['tools.x', 'allowed_callers', ['direct'], true],
  ['tools.x', 'allowed_callers', ['code_execution_20260521'], false],
])('at %j, %s = %j is silent: %s', (path, key, value, silent) => {
  expect(lost(path, { 'anthropic-messages': { [key]: value } })).toHaveLength(silent ? 0 : 1);
});

it('an option that is on though nothing is in it is named', () => {
  const losses = new LossLog();
  loseForeign('', { 'openai-chat': { web_search_options: {} } }, 'anthropic-messages', losses);
  expect(losses.list()).toEqual([{ path: 'web_search_options', reason: 'only openai-chat has it' }]);
});
