import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  call,
  handBack,
  result,
  SessionsBench,
  said,
  speak,
  user,
} from '../../../test/support/sessions-bench.js';
import type { Message, ToolUseBlock } from '../../core/conversation.js';
import type { Turn } from '../sessions.js';

/** A branch as its client holds it: what it would send, up to a point where it is the client's turn. */
interface Branch {
  principal: string;
  session: string;
  told: Message[];
  open: ToolUseBlock[];
}

type Move =
  | { type: 'begin'; bob: boolean }
  | { type: 'go-on'; branch: number; calls: number; breakOff: boolean }
  | { type: 'fork'; branch: number; at: number; calls: number }
  | { type: 'repeat'; branch: number };

const calls = fc.nat(3);
const branch = fc.nat(7);
const MOVE: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ type: fc.constant('begin' as const), bob: fc.boolean() }),
  fc.record({ type: fc.constant('go-on' as const), branch, calls, breakOff: fc.boolean() }),
  fc.record({ type: fc.constant('go-on' as const), branch, calls, breakOff: fc.boolean() }),
  fc.record({ type: fc.constant('fork' as const), branch, at: fc.nat(5), calls }),
  fc.record({ type: fc.constant('repeat' as const), branch }),
);

/** The last request of a branch, and the words or results that follow on it. */
class Play {
  readonly bench: SessionsBench;
  readonly branches: Branch[] = [];
  #words = 0;

  constructor(bench: SessionsBench) {
    this.bench = bench;
  }

  async move(move: Move): Promise<void> {
    if (move.type === 'begin') return this.#begin(move.bob ? 'bob' : 'alice');
    const chosen = this.branches[move.branch % Math.max(1, this.branches.length)];
    if (chosen === undefined) return;
    if (move.type === 'go-on') return this.#goOn(chosen, move.calls, move.breakOff);
    if (move.type === 'fork') return this.#fork(chosen, move.at, move.calls);
    return this.#repeat(chosen);
  }

  async #begin(principal: string): Promise<void> {
    const told = [this.#next([])];
    const turn = await this.bench.turn(told, { principal });
    expect(turn.how).toBe('new');
    expect(this.branches.some(({ session }) => session === turn.id)).toBe(false);
    this.branches.push(await this.#end(turn, { principal, session: turn.id, told, open: [] }, 0));
  }

  async #goOn(from: Branch, count: number, breakOff: boolean): Promise<void> {
    const { principal, told } = from;
    const request = [...told, this.#next(from.open)];
    let turn = await this.bench.turn(request, { principal });
    expect([turn.how, turn.id]).toEqual(['continue', from.session]);
    if (breakOff) {
      turn.transcript.push(said('broken', call(turn.claimId('s'), 'Read')));
      await turn.save();
      await turn.abandon();
      const again = await this.bench.turn(request, { principal });
      expect([again.id, again.key, again.transcript]).toEqual([turn.id, turn.key, turn.transcript]);
      expect(again.outstanding?.calls).toHaveLength(1);
      again.transcript.pop();
      turn = again;
    }
    Object.assign(from, await this.#end(turn, { ...from, told: request }, count));
  }

  async #fork({ principal, session, told }: Branch, at: number, count: number): Promise<void> {
    const ends = told.flatMap(({ role }, index) => (role === 'assistant' ? [index] : [])).slice(0, -1);
    const end = ends[at % Math.max(1, ends.length)];
    if (end === undefined) return;
    const request = [...told.slice(0, end + 1), user(`word ${this.#word()}`)];
    const turn = await this.bench.turn(request, { principal });
    expect([turn.how, turn.id === session]).toEqual(['fork', false]);
    this.branches.push(
      await this.#end(turn, { principal, session: turn.id, told: request, open: [] }, count),
    );
  }

  /** Results again: the same answer. Words again: a session of its own. */
  async #repeat({ principal, told }: Branch): Promise<void> {
    const request = told.slice(0, -1);
    const hasResults = request.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
    const again = await this.bench.attach(request, { principal });
    if (hasResults) {
      expect(again).toMatchObject({ kind: 'answered', answer: { blocks: told.at(-1)?.content } });
      return;
    }
    if (again.kind !== 'turn') throw new Error(`It is ${again.kind}`);
    expect(again.turn.how).toBe(request.length === 1 ? 'new' : 'fork');
    await again.turn.discard();
  }

  async #end(turn: Turn, branch: Branch, count: number): Promise<Branch> {
    expect(turn.principal).toBe(branch.principal);
    for (const { session, principal } of this.branches) {
      if (session === turn.id) expect(principal).toBe(turn.principal);
    }
    const open = Array.from({ length: count }, () => call(turn.claimId('c'), 'get', { n: this.#word() }));
    const text = `answer ${this.#word()}`;
    if (count > 0) await handBack(turn, open, { text, here: [call(turn.claimId('s'), 'Read')] });
    else await speak(turn, text);
    return { ...branch, open, told: [...branch.told, said(text, ...open)] };
  }

  #next(open: readonly ToolUseBlock[]): Message {
    if (open.length === 0) return user(`word ${this.#word()}`);
    return user(...open.map(({ id }) => result(id, `of ${id}`)));
  }

  #word(): number {
    this.#words += 1;
    return this.#words;
  }

  /** What each client was told is in what the model has, in order; each result stands there once. */
  async check(): Promise<void> {
    for (const { session, told } of this.branches) {
      const content = await this.bench.sessions.read(session);
      const texts = content?.messages.flatMap(textsIn) ?? [];
      expect(texts.filter((text) => !text.startsWith('hidden'))).toEqual(told.flatMap(textsIn));
      const ids = content?.messages.flatMap((message) =>
        message.content.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : [])),
      );
      expect(new Set(ids).size).toBe(ids?.length);
      const calls = await this.bench.store.toolCalls.list(session);
      const unused = calls.filter(({ state }) => state === 'answered').map(({ id }) => id);
      expect(unused).toEqual([]);
    }
  }
}

const textsIn = ({ content }: Message): string[] =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : []));

describe('any sequence of going on, forking, repeating and breaking off', () => {
  it('keeps every branch whole, uses every result once, and never mixes two keys', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(MOVE, { minLength: 4, maxLength: 14 }), async (moves) => {
        const play = new Play(await SessionsBench.open());
        try {
          for (const move of moves) await play.move(move);
          await play.check();
        } finally {
          await play.bench.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});
