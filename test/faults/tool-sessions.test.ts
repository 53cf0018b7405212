/** Many conversations in one process, on the real tools and rules: what each has is its own. */
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import type { OpenToolState, ToolRunResult } from '../../src/tools/runtime/runtime.js';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { fakeTool } from '../support/fake-tools.js';
import { openToolWorld, type ToolWorld, type ToolWorldOptions } from '../support/tool-world.js';
import { count, TIMEOUT_MS } from './counts.js';

const SESSIONS = count(150, 500);
/** Of them, those that run commands: a process costs more than all the rest. */
const COMMANDS = count(12, SESSIONS);

async function world(options: Partial<ToolWorldOptions> = {}) {
  const base = await realpath((await tempFolder('toolgate-sessions')).path);
  const made = await openToolWorld({ base, home: join(base, 'home'), ...options });
  closeAfterTest(() => made.close());
  return { ...made, base };
}

async function open({ runtime, base }: ToolWorld & { base: string }, name: string): Promise<OpenToolState> {
  const root = join(base, name);
  await mkdir(root);
  return runtime.openToolState({ id: name, principal: name, workspace: { root, home: base } });
}

type Wanted = readonly [tool: string, input: Record<string, unknown>];

async function call({ runtime }: ToolWorld, session: OpenToolState, ...wanted: Wanted[]): Promise<string[]> {
  const offer = await runtime.offer({ selection: 'all', requested: [] });
  const results: ToolRunResult[] = [];
  const events = runtime.run({
    calls: wanted.map(([name, input], index) => ({ type: 'tool_use', id: `toolu_${index}`, name, input })),
    offer,
    toolState: session,
    options: { commands: [], model: 'test', forkNumber: 0, logName: session.id },
    signal: new AbortController().signal,
  });
  for await (const event of events) if (event.type === 'tool-result') results.push(event);
  return results.map(
    ({ content, outcome }) =>
      `${outcome}: ${content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')}`,
  );
}

describe(`${SESSIONS} sessions at once`, () => {
  it('see neither each other’s folder, files read, lists, memories nor environment', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const here = await world();
    await mkdir(join(here.base, 'shared'));
    const shared = join(here.base, 'shared', 'notes.txt');
    await writeFile(shared, 'one\n');
    const names = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
    const answers = await Promise.all(
      names.map(async (name, index) => {
        const session = await open(here, name);
        const commands = index < COMMANDS;
        const move = `mkdir in-${name} && cd in-${name} && export MARK=${name}`;
        const first = await call(
          here,
          session,
          ['MemoryWrite', { file_path: 'me.md', content: `memory of ${name}` }],
          [
            'TodoWrite',
            { todos: [{ content: `work of ${name}.`, status: 'pending', activeForm: 'Working' }] },
          ],
          // Every second one has read the file that all of them then try to change.
          ...(index % 2 === 0 ? [['Read', { file_path: shared }] as const] : []),
          ...(commands ? [['Bash', { command: move }] as const] : []),
        );
        const second = await call(
          here,
          session,
          ['MemoryRead', { file_path: 'me.md' }],
          ['TodoRead', {}],
          ['Edit', { file_path: shared, old_string: 'absent', new_string: 'x' }],
          ...(commands ? [['Bash', { command: 'pwd; echo "mark:$MARK"' }] as const] : []),
        );
        const { cwd } = session;
        await session.close();
        return { failed: first.filter((text) => !text.startsWith('done')), second, cwd };
      }),
    );
    for (const [index, { failed, second, cwd }] of answers.entries()) {
      const name = `s${index}`;
      const [memory, todos, edit, printed] = second;
      expect(failed).toEqual([]);
      expect(memory).toContain(`memory of ${name}`);
      expect([...(todos ?? '').matchAll(/work of (\w+)\./g)].map(([, of]) => of)).toEqual([name]);
      // Who has not read it is told to; who has, that the text is not in it.
      expect(edit).toMatch(
        index % 2 === 1 ? /has not been read in this session/ : /old_string was not found/,
      );
      if (index >= COMMANDS) continue;
      const folder = join(here.base, name, `in-${name}`);
      expect(cwd).toBe(folder);
      expect(printed).toMatch(new RegExp(`^done: ${folder}\nmark:${name}$`, 'm'));
    }
  });
});

describe('a result that is too long', () => {
  const long = fakeTool('Long', {
    async *call() {
      yield { type: 'result', resultForAssistant: `${'first line\n'.repeat(9_000)}the last line` };
    },
  });
  // Nothing but the workspace may be read.
  const permissions = configSchema.shape.permissions.parse({ mode: 'deny', allow: ['Read', 'Long'] });

  it('can be read whole by its session, and by no other', async () => {
    const here = await world({ permissions, sources: [{ source: 'own', tools: () => [long] }] });
    const [mine, other] = [await open(here, 'mine'), await open(here, 'other')];
    const [cut = ''] = await call(here, mine, ['Long', {}]);
    const path = /The whole text is in (\S+):/.exec(cut)?.[1] ?? '';
    expect(path).not.toBe('');
    const [read = ''] = await call(here, mine, ['Read', { file_path: path, offset: 9_001 }]);
    expect(read).toMatch(/^done: .*the last line/);
    const [refused = ''] = await call(here, other, ['Read', { file_path: path }]);
    expect(refused).toMatch(/^denied: /);
  });

  it('can be read by a sub-agent of the session', async () => {
    const here = await world({ permissions, sources: [{ source: 'own', tools: () => [long] }] });
    const parent = await open(here, 'parent');
    const [cut = ''] = await call(here, parent, ['Long', {}]);
    const path = /The whole text is in (\S+):/.exec(cut)?.[1] ?? '';
    const child = await here.runtime.openToolState({
      id: 'parent',
      principal: 'parent',
      workspace: parent.workspace,
      agent: { id: 'a1', label: 'search' },
      parent,
    });
    expect((await call(here, child, ['Read', { file_path: path, limit: 1 }]))[0]).toMatch(/^done: /);
  });
});
