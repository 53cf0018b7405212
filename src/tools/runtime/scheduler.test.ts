import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import {
  callOf,
  type FakeWorld,
  fakeGate,
  fakeTool,
  fakeWorld,
  textOf,
} from '../../../test/support/fake-tools.js';
import { deferred, gate as door, turnOfLoop } from '../../../test/support/gate.js';
import { GatewayError } from '../../core/errors.js';
import type { GatedToolCall, PermissionGate, Verdict } from '../../permissions/gate.js';
import type { ToolRunEvent } from './runtime.js';
import { type Tool, ToolError, type ToolYield } from './tool.js';

async function world(
  tools: readonly Tool[],
  options: Parameters<typeof fakeWorld>[2] = {},
): Promise<FakeWorld> {
  const made = await fakeWorld(tools, (await tempFolder()).path, options);
  closeAfterTest(() => made.runtime.close());
  return made;
}

const result = (text: string): ToolYield => ({ type: 'result', resultForAssistant: text });

/** A tool whose calls wait until they are let go, and that writes down when each begins and ends. */
function held(name: string, journal: string[], parts: Partial<Tool> = {}) {
  const waiting = new Map<string, ReturnType<typeof door>>();
  const doorOf = (id: string) => {
    const known = waiting.get(id) ?? door();
    waiting.set(id, known);
    return known;
  };
  const tool = fakeTool(name, {
    async *call(_input, { toolUseId }) {
      journal.push(`+${toolUseId}`);
      await doorOf(toolUseId).pass();
      journal.push(`-${toolUseId}`);
      yield result(toolUseId);
    },
    ...parts,
  });
  return { tool, doorOf };
}

/** Does something and has no result. */
const runs = (work: (...given: Parameters<Tool['call']>) => Promise<unknown>): Tool['call'] =>
  async function* (input, context) {
    await work(input, context);
    yield* [];
  };

const textIn = (input: unknown): string => z.object({ text: z.string() }).parse(input).text;

const WRITES: Partial<Tool> = { isReadOnly: () => false, isConcurrencySafe: () => false };

describe('the order of calls', () => {
  it('runs readers beside each other and everything else alone', async () => {
    const journal: string[] = [];
    const reader = held('Read', journal);
    const writer = held('Write', journal, WRITES);
    const { results } = await world([reader.tool, writer.tool]);
    const [r1, r2, w, r3, r4] = ['Read', 'Read', 'Write', 'Read', 'Read'].map((name) => callOf(name));
    if (!r1 || !r2 || !w || !r3 || !r4) throw new Error('calls');
    const done = results([r1, r2, w, r3, r4]);
    await Promise.all([reader.doorOf(r1.id).reached, reader.doorOf(r2.id).reached]);
    await turnOfLoop();
    expect(journal).toEqual([`+${r1.id}`, `+${r2.id}`]);
    reader.doorOf(r2.id).open();
    reader.doorOf(r1.id).open();
    await writer.doorOf(w.id).reached;
    await turnOfLoop();
    expect(journal.slice(4)).toEqual([`+${w.id}`]);
    writer.doorOf(w.id).open();
    await Promise.all([reader.doorOf(r3.id).reached, reader.doorOf(r4.id).reached]);
    reader.doorOf(r4.id).open();
    reader.doorOf(r3.id).open();
    expect((await done).map(({ id }) => id)).toEqual([r1.id, r2.id, w.id, r3.id, r4.id]);
  });

  it.each([
    ['reads only but is not safe beside others', { isConcurrencySafe: () => false }],
    ['is safe beside others but changes something', { isReadOnly: () => false }],
  ])('runs alone what %s', async (_what, parts) => {
    const journal: string[] = [];
    const { tool, doorOf } = held('Half', journal, parts);
    const { results } = await world([tool]);
    const [a, b] = [callOf('Half'), callOf('Half')];
    const done = results([a, b]);
    await doorOf(a.id).reached;
    await turnOfLoop();
    expect(journal).toEqual([`+${a.id}`]);
    doorOf(a.id).open();
    doorOf(b.id).open();
    await done;
    expect(journal).toEqual([`+${a.id}`, `-${a.id}`, `+${b.id}`, `-${b.id}`]);
  });

  it('runs at most eight at once', async () => {
    const journal: string[] = [];
    const { tool, doorOf } = held('Read', journal);
    const { results } = await world([tool]);
    const calls = Array.from({ length: 10 }, () => callOf('Read'));
    const done = results(calls);
    const [first, ...rest] = calls;
    if (first === undefined) throw new Error('calls');
    await Promise.all(calls.slice(0, 8).map(({ id }) => doorOf(id).reached));
    await turnOfLoop();
    expect(journal).toHaveLength(8);
    doorOf(first.id).open();
    await doorOf(calls[8]?.id ?? '').reached;
    expect(journal.filter((line) => line.startsWith('+'))).toHaveLength(9);
    for (const { id } of rest) doorOf(id).open();
    expect(await done).toHaveLength(10);
  });

  it('gives results in the order of the calls, whichever ends first', async () => {
    const { tool, doorOf } = held('Read', []);
    const { results } = await world([tool]);
    const [a, b] = [callOf('Read'), callOf('Read')];
    const done = results([a, b]);
    doorOf(b.id).open();
    await doorOf(a.id).reached;
    await turnOfLoop();
    doorOf(a.id).open();
    expect((await done).map(({ id }) => id)).toEqual([a.id, b.id]);
  });

  it('looks at a call only after what changes something before it has ended', async () => {
    let written = false;
    const write = fakeTool('Write', {
      ...WRITES,
      async *call() {
        await turnOfLoop();
        written = true;
        yield result('ok');
      },
    });
    const edit = fakeTool('Edit', {
      ...WRITES,
      validateInput: () => (written ? { ok: true } : { ok: false, message: 'too early' }),
    });
    const { results } = await world([write, edit]);
    expect((await results([callOf('Write'), callOf('Edit')])).map(({ outcome }) => outcome)).toEqual([
      'done',
      'done',
    ]);
  });

  it('looks at a call that changes something only after the readers before it', async () => {
    let read = false;
    const reader = fakeTool('Read', {
      async *call() {
        await turnOfLoop();
        read = true;
        yield result('ok');
      },
    });
    const edit = fakeTool('Edit', {
      ...WRITES,
      validateInput: () => (read ? { ok: true } : { ok: false, message: 'not read yet' }),
    });
    const { results } = await world([reader, edit]);
    const outcomes = (await results([callOf('Read'), callOf('Edit')])).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['done', 'done']);
  });

  it('runs alone what a person made into something that changes', async () => {
    const journal: string[] = [];
    const inputSchema = z.strictObject({ write: z.boolean().default(false) });
    const { tool, doorOf } = held('T', journal, {
      inputSchema,
      isReadOnly: (input) => !inputSchema.parse(input).write,
    });
    const [a, b] = [callOf('T'), callOf('T')];
    const gate = fakeGate(async (call) => {
      if (call.toolUseId !== b.id) return undefined;
      const revision = await call.revise({ write: true });
      if ('problem' in revision) throw new Error(revision.problem);
      return { allowed: true, input: revision.input, because: { kind: 'person', by: 'alice', via: 'api' } };
    });
    const { results } = await world([tool], { gate });
    const done = results([a, b]);
    await doorOf(a.id).reached;
    doorOf(b.id).open();
    await turnOfLoop(10);
    expect(journal).toEqual([`+${a.id}`]);
    doorOf(a.id).open();
    await done;
    expect(journal).toEqual([`+${a.id}`, `-${a.id}`, `+${b.id}`, `-${b.id}`]);
  });

  it('asks about one call after the other', async () => {
    const asked: string[] = [];
    const answers = [deferred<Verdict | undefined>(), deferred<Verdict | undefined>()];
    const gate = fakeGate((call) => {
      asked.push(call.toolUseId);
      return answers[asked.length - 1]?.promise ?? Promise.resolve(undefined);
    });
    const { results } = await world([fakeTool('Read')], { gate });
    const [a, b] = [callOf('Read'), callOf('Read')];
    const done = results([a, b]);
    await vi.waitFor(() => expect(asked).toEqual([a.id]));
    await turnOfLoop();
    expect(asked).toEqual([a.id]);
    answers[0]?.resolve(undefined);
    await vi.waitFor(() => expect(asked).toEqual([a.id, b.id]));
    answers[1]?.resolve(undefined);
    expect(await done).toHaveLength(2);
  });

  describe('while one waits for a person', () => {
    const PERSON = { kind: 'person', by: 'ann', via: 'console' } as const;

    /**
     * Asks about everything, and waits for `answers`; a person allows it where they say nothing else. One
     * question is asked once, and its answer kept, unless it is that of a rule which may be gone.
     */
    function asking() {
      const asked: string[] = [];
      const answers = new Map<string, ReturnType<typeof deferred<Verdict | undefined>>>();
      const questions = new Map<string, Promise<Verdict>>();
      const ask = async (call: GatedToolCall, shown: string): Promise<Verdict> => {
        const answer = deferred<Verdict | undefined>();
        answers.set(call.toolUseId, answer);
        asked.push(call.toolUseId);
        call.onWaiting?.(`apr_${call.toolUseId}`);
        const verdict = (await answer.promise) ?? { allowed: true, input: call.input, because: PERSON };
        const { because } = verdict;
        if (because.kind === 'rule' && because.source !== 'once') questions.delete(shown);
        return verdict;
      };
      const gate: PermissionGate = {
        ...fakeGate((call) => {
          const shown = JSON.stringify([call.toolUseId, call.input, call.describe]);
          const question = questions.get(shown) ?? ask(call, shown);
          questions.set(shown, question);
          return question;
        }),
        judge: async () => ({
          behaviour: 'ask',
          because: { kind: 'harmless' },
          message: '',
          suggestions: [],
        }),
      };
      const answer = (id: string, verdict?: Verdict) => answers.get(id)?.resolve(verdict);
      return { asked, gate, answer };
    }

    it('asks about those behind it as well, and runs each in its turn by its own answer', async () => {
      const journal: string[] = [];
      const { asked, gate, answer } = asking();
      const { tool, doorOf } = held('Write', journal, WRITES);
      const { results } = await world([tool], { gate });
      const [a, b, c] = [callOf('Write'), callOf('Write'), callOf('Write')];
      const done = results([a, b, c]);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id, c.id]));
      const because = { kind: 'harmless' } as const;
      answer(c.id);
      answer(b.id, { allowed: false, outcome: 'denied', message: 'Not this one.', because });
      await turnOfLoop();
      expect(journal).toEqual([]);
      for (const { id } of [a, c]) doorOf(id).open();
      answer(a.id);
      expect((await done).map(({ outcome }) => outcome)).toEqual(['done', 'denied', 'done']);
      expect(journal).toEqual([`+${a.id}`, `-${a.id}`, `+${c.id}`, `-${c.id}`]);
      expect(asked).toEqual([a.id, b.id, c.id]);
    });

    it('asks again about one that would do something else when its turn comes', async () => {
      let size = 0;
      const { asked, gate, answer } = asking();
      const write = fakeTool('Write', {
        ...WRITES,
        describe: () => ({ title: `Write after ${size}`, kind: 'edit', paths: [] }),
        async *call() {
          size += 1;
          yield result('ok');
        },
      });
      const { results } = await world([write], { gate });
      const [a, b] = [callOf('Write'), callOf('Write')];
      const done = results([a, b]);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id]));
      answer(b.id);
      answer(a.id);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id, b.id]));
      expect(size).toBe(1);
      answer(b.id);
      expect((await done).map(({ outcome }) => outcome)).toEqual(['done', 'done']);
      expect(size).toBe(2);
    });

    it('does not say that a person changed what was allowed as it was', async () => {
      const { asked, gate, answer } = asking();
      const write = fakeTool('Write', { ...WRITES, inputSchema: z.strictObject({ text: z.string() }) });
      const { results } = await world([write], { gate });
      const [a, b] = [callOf('Write', { text: 'a' }), callOf('Write', { text: 'b' })];
      const done = results([a, b]);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id]));
      answer(b.id);
      answer(a.id);
      const [, second] = await done;
      expect(second?.outcome).toBe('done');
      expect(second).not.toHaveProperty('input');
    });

    it.each([
      ['asks again about an input that a person changed, where that would do something else now', true],
      ['runs an input that a person changed, where that would do the same', false],
    ])('%s', async (_what, depends) => {
      let size = 0;
      const ran: unknown[] = [];
      const { asked, gate, answer } = asking();
      const title = (text: string) => `Write ${text} after ${text === 'new' && depends ? size : 0}`;
      const write = fakeTool('Write', {
        ...WRITES,
        inputSchema: z.strictObject({ text: z.string() }),
        describe: (input) => ({ title: title(textIn(input)), kind: 'edit', paths: [] }),
        async *call(input) {
          size += 1;
          ran.push(input);
          yield result('ok');
        },
      });
      const { results } = await world([write], { gate });
      const [a, b] = [callOf('Write', { text: 'a' }), callOf('Write', { text: 'b' })];
      const done = results([a, b]);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id]));
      const describe = { title: title('new'), kind: 'edit', paths: [] } as const;
      answer(b.id, { allowed: true, input: { text: 'new' }, because: PERSON, describe });
      answer(a.id);
      if (depends) {
        await vi.waitFor(() => expect(asked).toEqual([a.id, b.id, b.id]));
        expect(ran).toEqual([{ text: 'a' }]);
        answer(b.id);
      }
      expect((await done)[1]).toMatchObject({ outcome: 'done', input: { text: 'new' } });
      expect(ran).toEqual([{ text: 'a' }, { text: 'new' }]);
      expect(asked).toHaveLength(depends ? 3 : 2);
    });

    it.each([
      ['asks the gate again about one that a rule let through, which may be gone', 'session', 3],
      ['runs one that used up a rule for it alone', 'once', 2],
    ] as const)('%s', async (_what, source, questions) => {
      const { asked, gate, answer } = asking();
      const { results } = await world([fakeTool('Write', WRITES)], { gate });
      const [a, b] = [callOf('Write'), callOf('Write')];
      const done = results([a, b]);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id]));
      const because = { kind: 'rule', rule: 'Write', source, part: 'Write' } as const;
      answer(b.id, { allowed: true, input: b.input, because });
      answer(a.id);
      if (questions === 3) {
        await vi.waitFor(() => expect(asked).toEqual([a.id, b.id, b.id]));
        answer(b.id, { allowed: false, outcome: 'denied', message: 'No.', because: PERSON });
      }
      expect((await done)[1]?.outcome).toBe(questions === 3 ? 'denied' : 'done');
      expect(asked).toHaveLength(questions);
    });

    it('denies one that a person allowed, where a rule denies it when its turn comes', async () => {
      const { asked, gate, answer } = asking();
      let denied = false;
      const judge: PermissionGate['judge'] = async (call) =>
        denied
          ? { behaviour: 'deny', because: { kind: 'harmless' }, message: 'Denied.', suggestions: [] }
          : gate.judge(call);
      const write = fakeTool('Write', {
        ...WRITES,
        async *call() {
          denied = true;
          yield result('ok');
        },
      });
      const check: PermissionGate['check'] = async (call) =>
        denied
          ? { allowed: false, outcome: 'denied', message: 'Denied.', because: { kind: 'harmless' } }
          : gate.check(call);
      const { results } = await world([write], { gate: { ...gate, judge, check } });
      const [a, b] = [callOf('Write'), callOf('Write')];
      const done = results([a, b]);
      await vi.waitFor(() => expect(asked).toEqual([a.id, b.id]));
      answer(b.id);
      answer(a.id);
      expect((await done)[1]?.outcome).toBe('denied');
    });
  });

  it('lets a reader run while a person thinks about the next one', async () => {
    const answer = deferred<Verdict | undefined>();
    const gate = fakeGate(({ tool }) => (tool === 'Asked' ? answer.promise : Promise.resolve(undefined)));
    const { run } = await world([fakeTool('Read'), fakeTool('Asked')], { gate });
    const events = run([callOf('Read'), callOf('Asked')]);
    const seen: ToolRunEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      if (event.type === 'tool-result' && event.name === 'Read') answer.resolve(undefined);
    }
    expect(seen.filter(({ type }) => type === 'tool-result')).toHaveLength(2);
  });
});

describe('the result of a call', () => {
  const only = async (tool: Tool, options: Parameters<typeof fakeWorld>[2] = {}, input = {}) => {
    const made = await world([tool], options);
    const results = await made.results([callOf(tool.name, input)]);
    expect(results).toHaveLength(1);
    return { result: results[0], logged: made.logged };
  };

  it('names the tools on offer when there is none of that name', async () => {
    const { results } = await world([fakeTool('Read')]);
    const [answer] = await results([callOf('Raed')]);
    expect(answer).toMatchObject({ outcome: 'unknown-tool', isError: true });
    expect(textOf(answer)).toContain('"Raed"');
    expect(textOf(answer)).toContain('Read');
  });

  it('is an error that names the fields when the input is wrong', async () => {
    const tool = fakeTool('Read', { inputSchema: z.strictObject({ file_path: z.string() }) });
    const { result: answer } = await only(tool, {}, { path: 'x' });
    expect(answer?.outcome).toBe('invalid');
    expect(textOf(answer)).toContain('`file_path` is missing');
    expect(textOf(answer)).toContain('`path` is not a field');
  });

  it('is what a ToolError says', async () => {
    const tool = fakeTool('T', {
      call: runs(async () => {
        throw new ToolError('Read it first.', { data: { why: 1 } });
      }),
    });
    const { result: answer, logged } = await only(tool);
    expect(answer).toMatchObject({ outcome: 'failed', isError: true, data: { why: 1 } });
    expect(textOf(answer)).toBe('Read it first.');
    expect(logged).toEqual([]);
  });

  it('says nothing of a bug, which is logged whole', async () => {
    const bug = new TypeError('secret detail');
    const tool = fakeTool('T', {
      call: runs(async () => {
        throw bug;
      }),
    });
    const { result: answer, logged } = await only(tool);
    expect(answer).toMatchObject({ outcome: 'failed', isError: true });
    expect(textOf(answer)).toContain('Internal error');
    expect(textOf(answer)).not.toContain('secret');
    expect(logged).toEqual([{ facts: { err: bug, tool: 'T' }, message: 'a tool crashed' }]);
  });

  it('has the message of a gateway error, which is made for being read', async () => {
    const tool = fakeTool('T', {
      call: runs(async () => {
        throw new GatewayError('unavailable', 'Install bubblewrap.');
      }),
    });
    expect(textOf((await only(tool)).result)).toBe('Install bubblewrap.');
  });

  it.each<[string, Partial<Tool>]>([
    ['effects', { effects: () => Promise.reject(new Error('secret')) }],
    ['validateInput', { validateInput: () => Promise.reject(new Error('secret')) }],
    ['describe', { describe: () => Promise.reject(new Error('secret')) }],
    [
      'isReadOnly',
      {
        isReadOnly: () => {
          throw new Error('secret');
        },
      },
    ],
    [
      'call itself',
      {
        call: () => {
          throw new Error('secret');
        },
      },
    ],
  ])('is an internal error when %s crashes', async (_what, parts) => {
    const { result: answer, logged } = await only(fakeTool('T', parts));
    expect(answer).toMatchObject({ outcome: 'failed', isError: true });
    expect(textOf(answer)).not.toContain('secret');
    expect(logged).toHaveLength(1);
  });

  it('is an error when the gate itself fails, and the tool does not run', async () => {
    const ran = vi.fn();
    const gate = fakeGate(() => Promise.reject(new GatewayError('unavailable', 'The store is locked.')));
    const tool = fakeTool('T', {
      async *call() {
        ran();
        yield result('ran');
      },
    });
    const { result: answer } = await only(tool, { gate });
    expect(answer?.outcome).toBe('failed');
    expect(textOf(answer)).toBe('The store is locked.');
    expect(ran).not.toHaveBeenCalled();
  });

  it.each([
    ['denied', 'denied'],
    ['expired', 'expired'],
    ['unattended', 'unattended'],
    ['cancelled', 'denied'],
  ] as const)('of a call that was %s says so and who', async (outcome, expected) => {
    const ran = vi.fn();
    const gate = fakeGate(async () => ({
      allowed: false,
      outcome,
      message: 'Denied by alice.',
      because: { kind: 'person', by: 'alice', via: 'console' },
    }));
    const tool = fakeTool('T', {
      async *call() {
        ran();
        yield result('ran');
      },
    });
    const { result: answer } = await only(tool, { gate });
    expect(answer).toMatchObject({
      outcome: expected,
      isError: true,
      because: { kind: 'person', by: 'alice' },
    });
    expect(textOf(answer)).toBe('Denied by alice.');
    expect(ran).not.toHaveBeenCalled();
  });

  it('of a refused call is shown as the tool wants it', async () => {
    const gate = fakeGate(async () => ({
      allowed: false,
      outcome: 'denied',
      message: 'No.',
      because: { kind: 'abort' },
    }));
    const tool = fakeTool('T', {
      describeRejected: () => ({ title: 'Would have run', kind: 'other', paths: [] }),
    });
    expect((await only(tool, { gate })).result?.describe?.title).toBe('Would have run');
  });

  it('is an error when the tool ends without one', async () => {
    const { result: answer, logged } = await only(
      fakeTool('T', {
        async *call() {
          yield { type: 'progress', content: 'nearly' };
        },
      }),
    );
    expect(answer).toMatchObject({ outcome: 'failed', isError: true });
    expect(textOf(answer)).toContain('ended without a result');
    expect(logged.map(({ message }) => message)).toEqual(['a tool ended without a result']);
  });

  it('is the first where a tool gives two, and progress behind it is not told', async () => {
    const made = await world([
      fakeTool('T', {
        async *call() {
          yield result('first');
          yield { type: 'progress', content: 'late' };
          yield result('second');
        },
      }),
    ]);
    const events: ToolRunEvent[] = [];
    for await (const event of made.run([callOf('T')])) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['tool-start', 'tool-result']);
    expect(textOf(events.flatMap((event) => (event.type === 'tool-result' ? [event] : []))[0])).toBe('first');
    expect(made.logged).toHaveLength(2);
  });

  it('stands when what follows it in the tool fails, and that is done before it leaves', async () => {
    let cleaned = false;
    const { result: answer, logged } = await only(
      fakeTool('T', {
        async *call() {
          yield result('kept');
          cleaned = true;
          throw new Error('cleaning up');
        },
      }),
    );
    expect(textOf(answer)).toBe('kept');
    expect(cleaned).toBe(true);
    expect(logged.map(({ message }) => message)).toEqual(['a tool failed after its result']);
  });

  it('does not wait for a tool that goes on after it', async () => {
    const { result: answer } = await only(
      fakeTool('T', {
        async *call() {
          yield result('kept');
          await new Promise(() => {});
        },
      }),
      { limits: { graceMs: 5 } },
    );
    expect(textOf(answer)).toBe('kept');
  });

  it('is told with its terminal codes where it has any, unless they are too many', async () => {
    const tool = fakeTool('Paint', {
      async *call(input) {
        const chars = Number(Reflect.get(Object(input), 'chars'));
        yield { type: 'result', resultForAssistant: 'red', shown: `\u001b[31mred${' '.repeat(chars)}` };
      },
      limits: { resultChars: 100 },
    });
    const { results } = await world([tool]);
    const [short, long] = await results([callOf('Paint', { chars: 1 }), callOf('Paint', { chars: 200 })]);
    expect(short).toMatchObject({ content: [{ type: 'text', text: 'red' }], shown: '\u001b[31mred ' });
    expect(long).toMatchObject({ content: [{ type: 'text', text: 'red' }] });
    expect(long).not.toHaveProperty('shown');
  });

  it('passes over what is neither progress nor a result', async () => {
    const odd: ToolYield[] = JSON.parse(
      '[null, 5, {"type":"result"}, {"type":"result","resultForAssistant":[{}]}]',
    );
    const { result: answer, logged } = await only(
      fakeTool('T', {
        async *call() {
          yield* odd;
          yield result('real');
        },
      }),
    );
    expect(textOf(answer)).toBe('real');
    expect(logged).toHaveLength(4);
  });

  it('is rendered by the tool, keeps data for people, and tells how long it took', async () => {
    const { result: answer } = await only(
      fakeTool('T', {
        async *call() {
          yield { type: 'result', resultForAssistant: 'a', data: { n: 1 } };
        },
        renderResultForAssistant: (text) => `<${text}>`,
      }),
    );
    expect(textOf(answer)).toBe('<a>');
    expect(answer).toMatchObject({
      data: { n: 1 },
      outcome: 'done',
      isError: false,
      durationMs: expect.any(Number),
    });
    expect(answer).not.toHaveProperty('input');
  });

  it('is told as failed when the tool says so', async () => {
    const { result: answer } = await only(
      fakeTool('T', {
        async *call() {
          yield { type: 'result', resultForAssistant: 'exit 1', isError: true };
        },
      }),
    );
    expect(answer).toMatchObject({ outcome: 'failed', isError: true });
  });

  it('is cut where it is too long, and the whole can be read', async () => {
    const tool = fakeTool('T', {
      limits: { resultChars: 2_000 },
      async *call() {
        yield result('x'.repeat(9_000));
      },
    });
    const made = await world([tool]);
    const [answer] = await made.results([callOf('T')]);
    expect(textOf(answer).length).toBeLessThanOrEqual(2_000);
    expect(made.session.ownPaths?.()).toEqual([await made.session.scratch()]);
    expect(textOf(answer)).toContain(await made.session.scratch());
  });
});

describe('failures beside others', () => {
  it('around a tool do not touch them either', async () => {
    const bad = fakeTool('Bad', {
      renderResultForAssistant: () => JSON.parse('42'),
      limits: { resultChars: Number.NaN },
    });
    const { results } = await world([bad, fakeTool('Read'), fakeTool('Write', WRITES)]);
    const outcomes = (await results([callOf('Bad'), callOf('Bad'), callOf('Read'), callOf('Write')])).map(
      ({ outcome }) => outcome,
    );
    expect(outcomes).toEqual(['failed', 'failed', 'done', 'done']);
  });

  it('do not touch their neighbours', async () => {
    const bad = fakeTool('Bad', {
      call: runs(async () => {
        throw new Error('no');
      }),
    });
    const { results } = await world([bad, fakeTool('Read')]);
    const outcomes = (await results([callOf('Read'), callOf('Bad'), callOf('Read')])).map(
      ({ outcome }) => outcome,
    );
    expect(outcomes).toEqual(['done', 'failed', 'done']);
  });
});

describe('input that a person changed', () => {
  const schema = z.strictObject({ command: z.string().min(1) });
  const journalOf = (calls: string[]) =>
    fakeTool('Bash', {
      ...WRITES,
      inputSchema: schema,
      describe: (input) => ({ title: JSON.stringify(input), kind: 'command', paths: [] }),
      effects: (input) => [{ kind: 'command', command: schema.parse(input).command, cwd: '/' }],
      validateInput: (input) =>
        schema.parse(input).command === 'bad' ? { ok: false, message: 'bad is bad' } : { ok: true },
      async *call(input) {
        calls.push(schema.parse(input).command);
        yield result('ok');
      },
    });

  it('has fields that the model cannot fill in', async () => {
    const asked: unknown[] = [];
    const question = fakeTool('Ask', {
      ...WRITES,
      inputSchema: z.object({ text: z.string(), answer: z.string().optional() }),
      personFields: ['answer'],
      async *call(input) {
        asked.push(input);
        yield result('ok');
      },
    });
    const gate = fakeGate(async (call) => {
      asked.push(call.input);
      const revision = await call.revise({ text: 'why', answer: 'because' });
      if ('problem' in revision) throw new Error(revision.problem);
      return { allowed: true, input: revision.input, because: { kind: 'person', by: 'alice', via: 'api' } };
    });
    const { results } = await world([question], { gate });
    await results([callOf('Ask', { text: 'why', answer: 'the model says so' })]);
    expect(asked).toEqual([{ text: 'why' }, { text: 'why', answer: 'because' }]);
  });

  it('is checked, described anew, and what runs', async () => {
    const ran: string[] = [];
    const gate = fakeGate(async (call) => {
      const revision = await call.revise({ command: 'ls' });
      if ('problem' in revision) throw new Error(revision.problem);
      expect(revision.effects).toEqual([{ kind: 'command', command: 'ls', cwd: '/' }]);
      expect(revision.describe.title).toBe('{"command":"ls"}');
      return { allowed: true, input: revision.input, because: { kind: 'person', by: 'alice', via: 'api' } };
    });
    const { results } = await world([journalOf(ran)], { gate });
    const [answer] = await results([callOf('Bash', { command: 'rm' })]);
    expect(ran).toEqual(['ls']);
    expect(answer?.input).toEqual({ command: 'ls' });
    expect(answer?.describe?.title).toBe('{"command":"ls"}');
  });

  it.each([
    ['the schema', { command: '' }, /command/],
    ['the tool', { command: 'bad' }, /bad is bad/],
  ])('is refused where %s does not take it', async (_who, changed, problem) => {
    const gate = fakeGate(async (call) => {
      const revision = await call.revise(changed);
      return {
        allowed: false,
        outcome: 'denied',
        message: 'problem' in revision ? revision.problem : 'taken',
        because: { kind: 'abort' },
      };
    });
    const { results } = await world([journalOf([])], { gate });
    expect(textOf((await results([callOf('Bash', { command: 'rm' })]))[0])).toMatch(problem);
  });

  it('is checked also where the decision was made before this process began', async () => {
    const ran: string[] = [];
    const inputs = [{ command: 'ls' }, { command: 'bad' }];
    const gate = fakeGate(async () => ({
      allowed: true,
      input: inputs.shift(),
      because: { kind: 'person', by: 'alice', via: 'api' },
    }));
    const { results } = await world([journalOf(ran)], { gate });
    const answers = await results([callOf('Bash', { command: 'a' }), callOf('Bash', { command: 'b' })]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['done', 'invalid']);
    expect(ran).toEqual(['ls']);
  });
});

describe('what the rules deny', () => {
  it('is not looked at: neither validated nor described by the tool', async () => {
    const looked = vi.fn();
    const tool = fakeTool('Edit', {
      effects: () => [{ kind: 'edit', path: '/x/.env' }],
      validateInput: () => {
        looked();
        return { ok: false, message: 'the text is not in the file' };
      },
      describe: () => {
        looked();
        return { title: 'a diff', kind: 'edit', paths: [] };
      },
    });
    const because = { kind: 'rule', rule: 'Edit(./.env)', source: 'configuration', part: '/x/.env' } as const;
    const gate = {
      ...fakeGate(async () => ({ allowed: false, outcome: 'denied', message: 'Denied by a rule.', because })),
      judge: async () => ({ behaviour: 'deny' as const, because, message: 'Denied.', suggestions: [] }),
    };
    const { results } = await world([tool], { gate });
    const [answer] = await results([callOf('Edit')]);
    expect(answer).toMatchObject({ outcome: 'denied', describe: { paths: ['/x/.env'] } });
    expect(textOf(answer)).toBe('Denied by a rule.');
    expect(looked).not.toHaveBeenCalled();
  });

  it('is a problem of the input where a person changed it into that', async () => {
    const because = { kind: 'rule', rule: 'X', source: 'configuration', part: 'x' } as const;
    let judged = 0;
    const gate = {
      ...fakeGate(async (call) => {
        const revision = await call.revise({});
        return {
          allowed: false,
          outcome: 'denied',
          message: 'problem' in revision ? revision.problem : 'taken',
          because: { kind: 'abort' },
        };
      }),
      judge: async () => ({
        behaviour: judged++ === 0 ? ('ask' as const) : ('deny' as const),
        because,
        message: 'Denied by rule X.',
        suggestions: [],
      }),
    };
    const { results } = await world([fakeTool('T')], { gate });
    expect(textOf((await results([callOf('T')]))[0])).toBe('Denied by rule X.');
  });
});

describe('stopping tool calls', () => {
  it('gives every call one result: what ran, what waited and what had not begun', async () => {
    const stop = new AbortController();
    const seenSignal = deferred();
    const reader = fakeTool('Read', {
      call: runs(async (_input, { signal }) => {
        signal.addEventListener('abort', () => seenSignal.resolve());
        await seenSignal.promise;
        signal.throwIfAborted();
      }),
    });
    const asked = deferred();
    const gate = fakeGate(async ({ tool, signal }) => {
      if (tool !== 'Asked') return undefined;
      asked.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { allowed: false, outcome: 'cancelled', message: 'Cancelled.', because: { kind: 'abort' } };
    });
    const { results } = await world([reader, fakeTool('Asked'), fakeTool('Write', WRITES)], { gate });
    const calls = [callOf('Read'), callOf('Asked'), callOf('Write')];
    const done = results(calls, { signal: stop.signal });
    await asked.promise;
    stop.abort();
    const answers = await done;
    expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    expect(answers.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted', 'aborted']);
    expect(textOf(answers[0])).toContain('may have done part');
    expect(textOf(answers[2])).toContain('Not run');
  });

  it('before anything began runs nothing', async () => {
    const ran = vi.fn();
    const tool = fakeTool('T', {
      async *call() {
        ran();
        yield result('x');
      },
    });
    const { results } = await world([tool]);
    const answers = await results([callOf('T'), callOf('T')], { signal: AbortSignal.abort() });
    expect(answers.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
    expect(ran).not.toHaveBeenCalled();
  });

  it('does not wait for a tool that ignores it, and says so', async () => {
    const stop = new AbortController();
    const begun = deferred();
    const tool = fakeTool('T', {
      call: runs(async () => {
        begun.resolve();
        await new Promise(() => {});
      }),
    });
    const { results, logged } = await world([tool], { limits: { graceMs: 5 } });
    const done = results([callOf('T')], { signal: stop.signal });
    await begun.promise;
    stop.abort();
    const [answer] = await done;
    expect(answer?.outcome).toBe('aborted');
    expect(textOf(answer)).toContain('may still be running');
    expect(logged.map(({ message }) => message)).toEqual([
      'a tool ignored its abort signal and was abandoned',
    ]);
  });

  it('does not wait for a gate that ignores it', async () => {
    const stop = new AbortController();
    const asked = deferred();
    const gate = fakeGate(() => {
      asked.resolve();
      return new Promise(() => {});
    });
    const { results } = await world([fakeTool('T')], { gate, limits: { graceMs: 5 } });
    const done = results([callOf('T')], { signal: stop.signal });
    await asked.promise;
    stop.abort();
    expect((await done).map(({ outcome }) => outcome)).toEqual(['aborted']);
  });

  it('keeps the result of a tool that ended well all the same', async () => {
    const stop = new AbortController();
    const tool = fakeTool('Write', {
      ...WRITES,
      async *call() {
        stop.abort();
        yield result('written');
      },
    });
    const { results } = await world([tool]);
    const [answer] = await results([callOf('Write')], { signal: stop.signal });
    expect(answer).toMatchObject({ outcome: 'done', isError: false });
  });

  it('reaches a tool that waits for a consumer who does not read', async () => {
    const stop = new AbortController();
    const ended = deferred();
    const tool = fakeTool('T', {
      async *call(_input, { signal }) {
        try {
          while (!signal.aborted) yield { type: 'progress', content: 'x' };
        } finally {
          ended.resolve();
        }
      },
    });
    const { run } = await world([tool]);
    const events = run([callOf('T')], { signal: stop.signal });
    await events.next();
    await turnOfLoop(20);
    stop.abort();
    await ended.promise;
    await events.return();
  });

  it('happens when the consumer leaves', async () => {
    const stopped = deferred();
    const tool = fakeTool('T', {
      async *call(_input, { signal }) {
        signal.addEventListener('abort', () => stopped.resolve());
        yield { type: 'progress', content: 'one' };
        await stopped.promise;
        yield result('x');
      },
    });
    const { run } = await world([tool]);
    for await (const event of run([callOf('T')])) if (event.type === 'tool-progress') break;
    await stopped.promise;
  });

  it('happens when the runtime closes', async () => {
    const begun = deferred();
    const tool = fakeTool('T', {
      call: runs(async (_input, { signal }) => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    });
    const { results, runtime } = await world([tool]);
    const done = results([callOf('T')]);
    await begun.promise;
    await runtime.close();
    expect((await done).map(({ outcome }) => outcome)).toEqual(['aborted']);
  });
});

describe('the time limit of a call', () => {
  it('ends a call that takes longer than its limit', async () => {
    const tool = fakeTool('T', {
      limits: { timeoutMs: 5 },
      call: runs(async (_input, { signal }) => {
        await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      }),
    });
    const { results } = await world([tool, fakeTool('Read')]);
    const [answer, next] = await results([callOf('T'), callOf('Read')]);
    expect(answer).toMatchObject({ outcome: 'timed-out', isError: true });
    expect(textOf(answer)).toContain('did not finish within 0.0 s');
    expect(next?.outcome).toBe('done');
  });

  it('keeps what the tool says of a part that it did', async () => {
    const tool = fakeTool('T', {
      limits: { timeoutMs: 5 },
      async *call(_input, { signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield { type: 'result', resultForAssistant: 'half of it', isError: true };
      },
    });
    const [answer] = await (await world([tool])).results([callOf('T')]);
    expect(answer?.outcome).toBe('timed-out');
    expect(textOf(answer)).toBe('half of it');
  });

  it('is not counted while a person is asked, before and during the call', async () => {
    vi.useFakeTimers();
    closeAfterTest(() => vi.useRealTimers());
    const gate = fakeGate(async (call) => {
      call.onWaiting?.('apr_1');
      await vi.advanceTimersByTimeAsync(60_000);
      call.onResumed?.();
      return undefined;
    });
    const tool = fakeTool('T', {
      limits: { timeoutMs: 1_000 },
      async *call(_input, context) {
        await vi.advanceTimersByTimeAsync(900);
        await context.require([{ kind: 'fetch', url: 'https://example.com/next' }]);
        await vi.advanceTimersByTimeAsync(50);
        yield result(context.signal.aborted ? 'stopped' : 'in time');
      },
    });
    const { run } = await world([tool], { gate });
    const events: ToolRunEvent[] = [];
    for await (const event of run([callOf('T')])) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'tool-waiting',
      'tool-start',
      'tool-waiting',
      'tool-result',
    ]);
    expect(events.at(-1)).toMatchObject({ outcome: 'done', content: [{ text: 'in time' }], durationMs: 950 });
  });

  it('has no limit where it is longer than any timer', async () => {
    const tool = fakeTool('T', {
      limits: { timeoutMs: Number.POSITIVE_INFINITY },
      async *call(_input, { signal }) {
        await turnOfLoop(5);
        yield result(signal.aborted ? 'stopped' : 'in time');
      },
    });
    expect(textOf((await (await world([tool])).results([callOf('T')]))[0])).toBe('in time');
  });

  it('goes on after the question was answered', async () => {
    vi.useFakeTimers();
    closeAfterTest(() => vi.useRealTimers());
    const gate = fakeGate(async (call) => {
      call.onWaiting?.('apr_1');
      call.onResumed?.();
      return undefined;
    });
    const tool = fakeTool('T', {
      limits: { timeoutMs: 1_000 },
      async *call(_input, context) {
        await vi.advanceTimersByTimeAsync(900);
        await context.require([]);
        await vi.advanceTimersByTimeAsync(200);
        context.signal.throwIfAborted();
        yield result('too late');
      },
    });
    const { results } = await world([tool], { gate });
    expect((await results([callOf('T')]))[0]?.outcome).toBe('timed-out');
  });

  it('ends a tool that never says what it would do', async () => {
    const tool = fakeTool('T', { describe: () => new Promise(() => {}) });
    const { results } = await world([tool], { limits: { planMs: 5 } });
    expect((await results([callOf('T')]))[0]?.outcome).toBe('timed-out');
  });
});

describe('permission for what comes up on the way', () => {
  it('is refused as a sentence for the model', async () => {
    const gate = fakeGate(async ({ effects }) =>
      effects.length === 0
        ? undefined
        : { allowed: false, outcome: 'denied', message: 'Not that host.', because: { kind: 'abort' } },
    );
    const tool = fakeTool('T', {
      async *call(_input, context) {
        await context.require([{ kind: 'fetch', url: 'https://example.com' }]);
        yield result('fetched');
      },
    });
    const [answer] = await (await world([tool], { gate })).results([callOf('T')]);
    expect(answer).toMatchObject({ outcome: 'failed', isError: true });
    expect(textOf(answer)).toBe('Not that host.');
  });
});

describe('events', () => {
  it('tell of the beginning, of progress with what a sub-agent said, and of the end', async () => {
    const said = [{ role: 'assistant' as const, content: [] }];
    const tool = fakeTool('T', {
      async *call() {
        yield { type: 'progress', content: 'one' };
        yield { type: 'progress', content: 'two', normalizedMessages: said, tools: ['Read'] };
        yield result('x');
      },
    });
    const { run } = await world([tool]);
    const events: ToolRunEvent[] = [];
    for await (const event of run([callOf('T')])) events.push(event);
    expect(events).toMatchObject([
      { type: 'tool-start', name: 'T', describe: { title: 'T' } },
      { type: 'tool-progress', content: 'one' },
      { type: 'tool-progress', content: 'two', normalizedMessages: said, tools: ['Read'] },
      { type: 'tool-result' },
    ]);
  });

  it('hold a tool back that is faster than whoever listens', async () => {
    let made = 0;
    const tool = fakeTool('T', {
      async *call() {
        for (; made < 10_000; made++) yield { type: 'progress', content: 'x' };
        yield result('x');
      },
    });
    const { run } = await world([tool]);
    const events = run([callOf('T')]);
    await events.next();
    await turnOfLoop(20);
    expect(made).toBeLessThan(200);
    await events.return();
  });
});

describe('any mix of calls', () => {
  type Kind = 'read' | 'write' | 'denied' | 'crash' | 'none' | 'two' | 'invalid' | 'unknown';
  const KINDS: readonly Kind[] = ['read', 'write', 'denied', 'crash', 'none', 'two', 'invalid', 'unknown'];

  it('has exactly one result for each call, in the order of the calls', async () => {
    const pause = async (input: unknown) => turnOfLoop(z.object({ rounds: z.number() }).parse(input).rounds);
    const tools: Tool[] = [
      fakeTool('read', {
        async *call(input) {
          await pause(input);
          yield result('read');
        },
      }),
      fakeTool('write', {
        ...WRITES,
        async *call(input) {
          await pause(input);
          yield result('write');
        },
      }),
      fakeTool('denied'),
      fakeTool('crash', {
        call: runs(async (input) => {
          await pause(input);
          throw new Error('crash');
        }),
      }),
      fakeTool('none', { async *call() {} }),
      fakeTool('two', {
        async *call() {
          yield result('one');
          yield result('two');
        },
      }),
      fakeTool('invalid', { validateInput: () => ({ ok: false, message: 'no' }) }),
    ];
    const gate = fakeGate(async ({ tool }) =>
      tool === 'denied'
        ? { allowed: false, outcome: 'denied', message: 'no', because: { kind: 'abort' } }
        : undefined,
    );
    const { run } = await world(tools, { gate, limits: { graceMs: 20 } });
    const mix = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 3 })), {
      maxLength: 24,
    });
    await fc.assert(
      fc.asyncProperty(mix, fc.option(fc.integer({ min: 0, max: 30 })), async (items, stopAfter) => {
        const stop = new AbortController();
        const calls = items.map(([kind, rounds]) => callOf(kind, { rounds }));
        const ids: string[] = [];
        let events = 0;
        for await (const event of run(calls, { signal: stop.signal })) {
          if (event.type === 'tool-result') ids.push(event.id);
          if (events === stopAfter) stop.abort();
          events += 1;
        }
        expect(ids).toEqual(calls.map(({ id }) => id));
      }),
      { numRuns: 60 },
    );
  });
});
