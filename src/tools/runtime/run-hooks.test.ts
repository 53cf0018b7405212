import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { callOf, fakeGate, fakeTool, fakeWorld, textOf } from '../../../test/support/fake-tools.js';
import { GatewayError } from '../../core/errors.js';
import type { RunRequest, ToolRunResult } from './runtime.js';
import type { Tool } from './tool.js';

const WRITES: Partial<Tool> = { isReadOnly: () => false, isConcurrencySafe: () => false };

async function world(parts: { person?: boolean; deny?: string } = {}) {
  const journal: string[] = [];
  const noting = (name: string, more: Partial<Tool>): Tool =>
    fakeTool(name, {
      async *call(_input, { toolUseId }) {
        journal.push(`run ${toolUseId}`);
        yield { type: 'result', resultForAssistant: `${name} done` };
      },
      ...more,
    });
  const gate = fakeGate(async ({ tool, input }) => {
    if (tool === parts.deny) {
      return { allowed: false, outcome: 'denied', message: 'no', because: { kind: 'mode', mode: 'deny' } };
    }
    if (parts.person !== true) return undefined;
    return { allowed: true, input, because: { kind: 'person', by: 'alice', via: 'api' } };
  });
  const made = await fakeWorld([noting('Read', {}), noting('Write', WRITES)], (await tempFolder()).path, {
    gate,
  });
  closeAfterTest(() => made.runtime.close());
  const hooks: Pick<RunRequest, 'onStart' | 'onResult'> = {
    onStart: async ({ id }, { once }) => {
      await new Promise(setImmediate);
      journal.push(`start ${id} ${once}`);
      return undefined;
    },
    onResult: async ({ id, outcome }) => {
      await new Promise(setImmediate);
      journal.push(`result ${id} ${outcome}`);
    },
  };
  return { ...made, journal, hooks };
}

describe('the hooks around tool calls', () => {
  it('is told right before each of them runs, and of its result before the next one begins', async () => {
    const { results, journal, hooks } = await world();
    const [a, b] = [callOf('Write'), callOf('Write')];
    await results([a, b], hooks);
    expect(journal).toEqual([
      `start ${a.id} true`,
      `run ${a.id}`,
      `result ${a.id} done`,
      `start ${b.id} true`,
      `run ${b.id}`,
      `result ${b.id} done`,
    ]);
  });

  it.each([
    ['Read', false, false],
    ['Write', false, true],
    ['Read', true, true],
  ])(
    'is told of %s (let through by a person: %s) that it must not run twice: %s',
    async (name, person, once) => {
      const { results, journal, hooks } = await world({ person });
      const call = callOf(name);
      await results([call], hooks);
      expect(journal[0]).toBe(`start ${call.id} ${once}`);
    },
  );

  it('is not told of what was not let through', async () => {
    const { results, journal, hooks } = await world({ deny: 'Write' });
    const [denied] = await results([callOf('Write')], hooks);
    expect(denied?.outcome).toBe('denied');
    expect(journal).toEqual([]);
  });

  it('can give a result in place of the run', async () => {
    const { results, journal } = await world();
    const told: ToolRunResult[] = [];
    const [result] = await results([callOf('Write')], {
      onStart: async () => 'It may have run.',
      onResult: async (each) => void told.push(each),
    });
    expect(textOf(result)).toBe('It may have run.');
    expect(result?.isError).toBe(true);
    expect([journal, told]).toEqual([[], []]);
  });

  it('keeps a call from running where it cannot write it down', async () => {
    const { results, journal, logged } = await world();
    const onStart = () => Promise.reject(new GatewayError('unavailable', 'The store is locked.'));
    const [result] = await results([callOf('Write')], { onStart });
    expect(journal).toEqual([]);
    expect(textOf(result)).toBe('The store is locked.');
    expect(logged).toHaveLength(1);
  });

  it('does not lose a result that it cannot write down', async () => {
    const { results, logged } = await world();
    const onResult = () => Promise.reject(new Error('full'));
    const [result] = await results([callOf('Write')], { onResult });
    expect(result?.outcome).toBe('done');
    expect(logged).toHaveLength(1);
  });

  it('that stops while it writes a call down hears that it did not run', async () => {
    const { results, journal } = await world();
    const stop = new AbortController();
    const told: string[] = [];
    await results([callOf('Write')], {
      signal: stop.signal,
      onStart: async () => {
        stop.abort();
        return undefined;
      },
      onResult: async (result) => void told.push(textOf(result)),
    });
    expect(journal).toEqual([]);
    expect(told).toEqual([expect.stringContaining('Not run')]);
  });
});
