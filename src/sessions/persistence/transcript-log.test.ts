import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, result, said, user } from '../../../test/support/sessions-bench.js';
import type { Message } from '../../core/conversation.js';
import { leftOut, notesMessage } from '../history/compaction-notes.js';
import { TranscriptLog, toRows } from './transcript-log.js';

/** As it comes back from the store. */
const reread = (log: TranscriptLog): TranscriptLog =>
  TranscriptLog.read(
    toRows(log.entries(log.length), 0, 1).map((row, index) => ({
      ...row,
      seq: index + 1,
      at: 0,
      message: JSON.parse(JSON.stringify(row.message)),
    })),
  );

const write = (log: TranscriptLog, messages: readonly Message[]): void => log.push(log.difference(messages));

const joined = (notes: Message, { content }: Message): Message => ({
  ...notes,
  content: [...notes.content, ...content],
});

describe('a transcript in the store', () => {
  it('is the same after any changes, as of every step, and is rewritten no more than it must be', () => {
    const change = fc.oneof(
      fc.record({ type: fc.constant('add' as const), role: fc.boolean() }),
      fc.record({ type: fc.constant('cut' as const), at: fc.nat(6) }),
      fc.record({ type: fc.constant('notes' as const), count: fc.nat(6) }),
      fc.record({ type: fc.constant('replace' as const), at: fc.nat(6) }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
        let log = new TranscriptLog();
        let messages: Message[] = [];
        const versions: [number, Message[]][] = [];
        let written = 0;
        for (const [index, each] of changes.entries()) {
          messages = [...log.messages];
          const fresh = each.type === 'add' && each.role ? said(`${index}`) : user(`${index}`);
          if (each.type === 'add') messages.push(fresh);
          else if (each.type === 'cut') messages.length = Math.min(messages.length, each.at);
          else if (each.type === 'notes') messages.splice(0, each.count, fresh);
          else if (each.at < messages.length) messages[each.at] = fresh;
          written += messages.includes(fresh) ? 1 : 0;
          write(log, messages);
          versions.push([log.length, messages]);
          log = reread(log);
        }
        for (const [step, version] of versions) expect(log.asOf(step)).toEqual(version);
        const stored = log.entries(log.length).filter(({ kind }) => kind === 'message');
        expect(stored).toHaveLength(written);
      }),
    );
  });

  it('knows what was said behind a step, when notes have taken its place', () => {
    const log = new TranscriptLog();
    const [a, b, c] = [said('A'), said('B'), said('C')];
    write(log, [user('x'), a, user('y')]);
    const step = log.length;
    write(log, [user('notes'), b]);
    write(log, [...log.messages, user('z'), c]);
    expect(log.saidAfter(step)).toEqual([b, c]);
    expect(log.countBefore(step)).toBe(1);
    write(log, [user('more notes'), c]);
    const again = reread(log);
    expect(again.saidAfter(step)).toEqual([b, c]);
    expect(again.countBefore(step)).toBe(1);
    write(again, [user('all is notes')]);
    expect(again.countBefore(step)).toBe(1);
    expect(again.saidAfter(step)).toEqual([b, c]);
  });

  it('can be read whole when notes have taken the place of its older part, twice', () => {
    const log = new TranscriptLog();
    const [question, answer, next] = [user('first'), said('one'), user('second')];
    write(log, [question, answer, next]);
    // The newest message of the user is joined to the notes.
    write(log, [joined(notesMessage('They asked.', 'first'), next)]);
    const later = said('two');
    write(log, [...log.messages, later]);
    const third = user('third');
    write(log, [...log.messages, third]);
    write(log, [notesMessage('More notes.', undefined), later, third, said('three')]);
    const again = reread(log);
    expect(again.readable()).toEqual([question, answer, next, later, third, said('three')]);
    expect(again.turnStart(0)).toEqual({ before: [], said: question });
    expect(again.turnStart(1)).toEqual({ before: [question, answer], said: next });
    expect(again.turnStart(2)).toEqual({ before: again.messages.slice(0, 2), said: third });
    expect(again.turnStart(3)).toEqual({ before: again.messages, said: undefined });
    expect(() => again.turnStart(4)).toThrow('has 3 turns');
  });

  it('is read with its results whole when they were left out to make room', () => {
    const log = new TranscriptLog();
    const whole = user(result('c1', 'a long result'));
    write(log, [user('first'), said(call('c1')), whole, said('one')]);
    const short = user({ ...result('c1', ''), content: leftOut(13) });
    write(log, [user('first'), said(call('c1'))]);
    write(log, [...log.messages, short, said('two')]);
    const [first, asked] = log.messages;
    expect(log.readable()).toEqual([first, asked, short, said('two')]);

    const kept = new TranscriptLog();
    const messages = [user('first'), said(call('c1')), whole, said('one')];
    write(kept, messages);
    write(kept, [...messages.slice(0, 2), short, ...messages.slice(3), said('two')]);
    expect(reread(kept).readable()).toEqual([...messages, said('two')]);
  });

  it('is read without what a conversation that went on from an earlier place has left', () => {
    const log = new TranscriptLog();
    const first = user('first');
    write(log, [first, said('dropped'), user('dropped too')]);
    write(log, [first, said('instead')]);
    expect(reread(log).readable()).toEqual([first, said('instead')]);
  });
});
