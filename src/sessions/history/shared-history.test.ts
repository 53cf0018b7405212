/** A history that is sent again is normalized and hashed once, to the same fingerprints. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { call, result, said, user } from '../../../test/support/sessions-bench.js';
import type { Message, TextBlock } from '../../core/conversation.js';
import { share } from '../../core/shared-values.js';
import { digest, fingerprintRequest } from './history-fingerprint.js';

const thinking: Message = { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] };
/** Of every kind that a message may have, and of those that join their neighbours. */
const KINDS: readonly (() => Message)[] = [
  () => user('a  question'),
  () => user(' '),
  () => user(result('c1', 'ok'), 'and'),
  () => said('an answer'),
  () => said(' to it'),
  () => said('looking', call('c1', 'get', { b: 1, a: [2] })),
  () => structuredClone(thinking),
  () => ({ role: 'system', content: [{ type: 'text', text: 'note' }] }),
];

function* sequences(length: number): Generator<Message[]> {
  if (length === 0) yield [];
  else for (const rest of sequences(length - 1)) for (const kind of KINDS) yield [...rest, kind()];
}

const hashesOf = (messages: readonly Message[]): string[] =>
  fingerprintRequest({
    principal: 'alice',
    engine: 'native',
    root: '/w',
    model: 'm',
    request: { messages: [...messages], system: [], tools: [] },
  }).ends.map(({ hash, position, message }) => `${hash} ${position} ${message}`);

describe('a history of shared messages', () => {
  it('has the fingerprints of the same messages that nobody shares', () => {
    for (const messages of sequences(4)) {
      const shared = messages.map((message) => share(structuredClone(message)));
      const expected = hashesOf(messages);
      expect(hashesOf(shared)).toEqual(expected);
      expect(hashesOf(shared)).toEqual(expected);
    }
  });

  it('has them also where its messages stood in another history before', () => {
    const pool = KINDS.map((kind) => share(kind()));
    for (let number = 0; number < 2_000; number += 1) {
      // Digits of a hash: any order of the messages, the same in each run.
      const order = createHash('sha256').update(String(number)).digest().subarray(0, 6);
      const messages = [...order].flatMap((byte) => pool[byte % pool.length] ?? []);
      expect(hashesOf(messages)).toEqual(hashesOf(structuredClone(messages)));
    }
  });

  it('is not read again', () => {
    let reads = 0;
    const block = new Proxy<TextBlock>(
      { type: 'text', text: 'a question' },
      {
        get: (target, key, self) => {
          if (key === 'text') reads += 1;
          return Reflect.get(target, key, self);
        },
      },
    );
    const messages = [share(user(block)), share(said('an answer'))];
    hashesOf(messages);
    const before = reads;
    hashesOf([...messages, user('more')]);
    expect([before > 0, reads]).toEqual([true, before]);
  });
});

it('a digest is the one that earlier versions have stored, whatever the text', () => {
  expect(digest('a\ud83d', '\ude00 é 修', '')).toBe('cTMrtS8bnry2U3r5iyokfKcUxcfZpygNMhipjoW30iY');
});
