import { describe, expect, it } from 'vitest';
import { said as assistant, user } from '../../../../test/support/sessions-bench.js';
import type { Block, Message } from '../../../core/conversation.js';
import { incomingMessage, transcriptOf } from './transcript-entries.js';

const PLACE = { cwd: '/work', model: 'm', now: 1_000_000 };

const told = (history: Message[]): { role: unknown; content: unknown }[] =>
  (transcriptOf(history, PLACE)?.entries ?? []).map(({ message }) => ({
    role: message['role'],
    content: message['content'],
  }));

const text = (said: string) => ({ type: 'text', text: said });
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'Read', input: {} });
const result = (toolUseId: string): Block => ({
  type: 'tool_result',
  toolUseId,
  content: [],
  isError: false,
});

describe('transcriptOf', () => {
  it('chains its entries and names the last one', () => {
    const transcript = transcriptOf([user('a'), assistant('b'), user('c'), assistant('d')], PLACE);
    const entries = transcript?.entries ?? [];
    expect(entries.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ uuid }) => uuid),
    ]);
    expect(transcript?.at).toBe(entries.at(-1)?.uuid);
    expect(new Set(entries.map(({ sessionId }) => sessionId))).toEqual(new Set([transcript?.sessionId]));
  });

  it('is undefined where nothing was said', () => {
    expect(transcriptOf([], PLACE)).toBeUndefined();
  });

  it('refuses a history that ends with the user: nothing would be asked', () => {
    expect(() => transcriptOf([user('a')], PLACE)).toThrow(/ends with the user/);
  });

  it('turns an instruction in the middle into a reminder at its place', () => {
    const history: Message[] = [
      user('a'),
      assistant('b'),
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      user('c'),
      assistant('d'),
    ];
    expect(told(history)[2]).toEqual({
      role: 'user',
      content: [text('<system-reminder>\nBe brief.\n</system-reminder>'), text('c')],
    });
  });

  it('keeps thinking with its proof, whoever made it, and leaves out thinking without', () => {
    const foreign = 'openai-responses:gAAAA';
    const history = [
      user('a'),
      assistant(
        { type: 'thinking', thinking: 'x', signature: foreign },
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'thinking', thinking: 'y' },
        'b',
      ),
    ];
    expect(told(history)[1]?.content).toEqual([
      { type: 'thinking', thinking: 'x', signature: foreign },
      { type: 'redacted_thinking', data: 'secret' },
      text('b'),
    ]);
  });

  it('answers calls in the middle that nobody answered, and leaves those at the end open', () => {
    const history = [user('a'), assistant(call('toolu_1')), user('b'), assistant(call('toolu_2'))];
    const [, first, second, last] = told(history);
    expect(first?.content).toEqual([{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }]);
    expect(second?.content).toMatchObject([{ type: 'tool_result', tool_use_id: 'toolu_1' }, text('b')]);
    expect(last?.content).toEqual([{ type: 'tool_use', id: 'toolu_2', name: 'Read', input: {} }]);
    expect(told(history)).toHaveLength(4);
  });

  it('takes marks for the prompt cache out: only four are allowed, and Claude Code sets its own', () => {
    const marked: Block = {
      type: 'text',
      text: 'a',
      extensions: { 'anthropic-messages': { cache_control: { type: 'ephemeral' } } },
    };
    expect(told([user(marked), assistant('b')])[0]?.content).toEqual([text('a')]);
  });

  it('says what could not be carried', () => {
    const foreign: Block = { type: 'opaque', dialect: 'openai-responses', kind: 'item_reference', value: {} };
    const transcript = transcriptOf([user('a', foreign), assistant('b')], PLACE);
    expect(transcript?.losses).toEqual([
      { path: 'messages.0.content.1', reason: 'item_reference is known to openai-responses only' },
    ]);
  });
});

describe('incomingMessage', () => {
  it('puts results first, and marks the text as nobody’s typing', () => {
    const { message } = incomingMessage([user('look', result('toolu_1')), user('again')]);
    expect(message).toEqual({
      type: 'user',
      parent_tool_use_id: null,
      client_composed: true,
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }, text('look'), text('again')],
      },
    });
  });

  it('carries an instruction as a reminder', () => {
    const { message } = incomingMessage([{ role: 'system', content: [{ type: 'text', text: 'x' }] }]);
    expect(message.message.content).toEqual([text('<system-reminder>\nx\n</system-reminder>')]);
  });

  it('refuses to send nothing, or the assistant’s words', () => {
    expect(() => incomingMessage([])).toThrow(/nothing to send/);
    expect(() => incomingMessage([assistant('a')])).toThrow(/assistant/);
  });
});
