/** Hundreds of sessions in one process: none sees the folder, variables, files, lists or jobs of another. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import type { PermissionGate } from '../../src/permissions/gate.js';
import { createBuiltIns } from '../../src/tools/built-ins.js';
import { createToolRuntime } from '../../src/tools/runtime/create-runtime.js';
import type {
  OpenToolState,
  ToolOffer,
  ToolRunResult,
  ToolRuntime,
} from '../../src/tools/runtime/runtime.js';
import { SANDBOX_OFF } from '../support/tool-context.js';
import { count, TIMEOUT_MS } from './counts.js';

const SESSIONS = count(50, 500);
const AT_ONCE = 25;

const ALLOW_ALL: PermissionGate = {
  check: async ({ input }) => ({ allowed: true, input, because: { kind: 'mode', mode: 'allow' } }),
  checkFurther: async ({ input }) => ({ allowed: true, input, because: { kind: 'mode', mode: 'allow' } }),
  judge: async () => ({
    behaviour: 'allow',
    because: { kind: 'mode', mode: 'allow' },
    message: 'Allowed.',
    suggestions: [],
  }),
  readable: async () => () => true,
  hidden: async () => [],
  modeOf: async () => undefined,
  leavePlan: async () => false,
};

let base: string;
let root: string;
let runtime: ToolRuntime;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-sessions-')));
  root = join(base, 'work');
  await mkdir(root);
  runtime = createToolRuntime({
    sources: [createBuiltIns(configSchema.shape.tools.parse({}))],
    gate: ALLOW_ALL,
    sandbox: SANDBOX_OFF,
    stateDir: join(base, 'state'),
  });
});
afterEach(async () => {
  await runtime.close();
  await rm(base, { recursive: true, force: true, maxRetries: 3 });
});

/** Every item, `AT_ONCE` at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}

interface Talk {
  number: number;
  session: OpenToolState;
}

it(
  `${SESSIONS} sessions do not see each other`,
  async () => {
    const offer = await runtime.offer({ selection: 'all', requested: [] });
    await writeFile(join(root, 'shared.txt'), 'shared\n');
    const talks: Talk[] = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, number) => ({
        number,
        session: await runtime.openToolState({
          id: `session-${number}`,
          principal: `person-${number % 10}`,
          workspace: { root, home: join(base, 'home') },
        }),
      })),
    );

    // First all of them leave something, so that each would see what 499 others have left.
    await each(talks, async ({ number, session }) => {
      const [moved, listed] = await calls(offer, session, [
        {
          name: 'Bash',
          input: {
            command: `mkdir own-${number} && cd own-${number} && export MARK=${number} && echo ${number} > mine.txt`,
          },
        },
        {
          name: 'TodoWrite',
          input: { todos: [{ content: `task ${number}`, status: 'pending', activeForm: `doing ${number}` }] },
        },
      ]);
      expect(moved?.isError, textOf(moved)).toBe(false);
      expect(listed?.isError, textOf(listed)).toBe(false);
      if (number % 2 === 0)
        await calls(offer, session, [{ name: 'Read', input: { file_path: join(root, 'shared.txt') } }]);
      if (number % 100 === 0) {
        await calls(offer, session, [
          { name: 'Bash', input: { command: `echo job ${number}; sleep 600`, run_in_background: true } },
        ]);
      }
    });

    await each(talks, async ({ number, session }) => {
      const [where, todos, edit, job] = await calls(offer, session, [
        { name: 'Bash', input: { command: 'pwd; echo "[$MARK]"; cat mine.txt; ls' } },
        { name: 'TodoRead', input: {} },
        {
          name: 'Edit',
          input: { file_path: join(root, 'shared.txt'), old_string: 'nothing like it', new_string: 'x' },
        },
        { name: 'BashOutput', input: { bash_id: 'bash_1' } },
      ]);
      expect(textOf(where)).toBe(`${root}/own-${number}\n[${number}]\n${number}\nmine.txt`);
      expect(session.cwd).toBe(join(root, `own-${number}`));
      expect(textOf(todos)).toContain(`task ${number}`);
      expect(textOf(todos).match(/task \d+/g)).toEqual([`task ${number}`]);
      // Who has read the file hears of the text, who has not hears of that.
      expect(edit?.isError).toBe(true);
      expect(textOf(edit).includes('old_string was not found'), textOf(edit)).toBe(number % 2 === 0);
      if (number % 100 === 0) expect(textOf(job)).toContain('it is running');
      else expect(textOf(job)).toContain('This session has none');
    });

    await each(talks, ({ session }) => session.close());
  },
  TIMEOUT_MS,
);

async function calls(
  offer: ToolOffer,
  session: OpenToolState,
  wanted: readonly { name: string; input: Record<string, unknown> }[],
): Promise<ToolRunResult[]> {
  const results: ToolRunResult[] = [];
  const events = runtime.run({
    calls: wanted.map(({ name, input }, index) => ({
      type: 'tool_use',
      id: `toolu_${index}`,
      name,
      input: JSON.parse(JSON.stringify(input)),
    })),
    offer,
    toolState: session,
    options: { commands: [], model: 'test', forkNumber: 0, logName: 'test' },
    signal: new AbortController().signal,
  });
  for await (const event of events) if (event.type === 'tool-result') results.push(event);
  return results;
}

function textOf(result: ToolRunResult | undefined): string {
  return (result?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
