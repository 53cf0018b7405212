import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contentOf, openWorld, says, tool, user, type World } from '../../support/claude-world.js';
import { call } from '../../support/wire.js';

const scenario = (path: string) => fileURLToPath(new URL(`../../../test/scenarios/${path}`, import.meta.url));

const WALLED = { config: { sandbox: 'required' } };

/** What the model was offered in its `index`th call. */
function offered(world: World, index: number): string[] {
  const { tools } = world.upstream.requests[index]?.json ?? {};
  return Array.isArray(tools) ? tools.map(({ name }: { name: string }) => name) : [];
}

describe('file tools behind a wall', { timeout: 60_000 }, () => {
  it('are the gateway’s, under the names that the model knows, with one memory of what was read', async () => {
    const world = await openWorld(WALLED);
    const path = world.path('a.txt');
    await writeFile(path, 'one two\n');
    const edit = (name: string, input: object, id: string) => call(name, { file_path: path, ...input }, id);
    world.script(
      { parts: [edit('Edit', { old_string: 'one', new_string: '1' }, 'toolu_early')] },
      { parts: [call('Read', { file_path: path }, 'toolu_read')] },
      { parts: [edit('Edit', { old_string: 'one', new_string: '1' }, 'toolu_edit')] },
      { parts: [edit('MultiEdit', { edits: [{ old_string: 'two', new_string: '2' }] }, 'toolu_multi')] },
      { parts: [call('Bash', { command: 'cat a.txt' }, 'toolu_bash')] },
      { parts: [edit('Write', { content: 'three\n' }, 'toolu_write')] },
      says('Done.'),
    );
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(offered(world, 0)).toEqual(
      expect.arrayContaining(['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Bash', 'Glob']),
    );
    expect(JSON.stringify(world.told(1))).toContain('"is_error":true');
    expect(JSON.stringify(world.told(5))).toContain('1 2');
    expect(JSON.stringify(world.told(6))).not.toContain('mcp__gateway__');
    expect(await readFile(path, 'utf8')).toBe('three\n');
  });

  it('show a person what they would change, as it would be', async () => {
    const world = await openWorld({
      config: { ...WALLED.config, permissions: { mode: 'ask', allow: ['Read'], unattended: 'wait' } },
    });
    const path = world.path('a.txt');
    await writeFile(path, 'one\n');
    world.script(
      { parts: [call('Read', { file_path: path }, 'toolu_r')] },
      { parts: [call('Edit', { file_path: path, old_string: 'one', new_string: 'two' }, 'toolu_e')] },
      says('Done.'),
    );
    const answering = world.post({ messages: [user('Go')] });
    const asked = await world.approval();
    expect(asked).toMatchObject({ tool: 'Edit', describe: { diff: expect.stringMatching(/-one\n\+two/) } });
    await world.decide(asked, { decision: 'allow' });
    await answering;
    expect(await readFile(path, 'utf8')).toBe('two\n');
  });

  it('give the model documents as what they are, also when another process goes on', async () => {
    const world = await openWorld({ ...WALLED, model: { tools: ['Read'] } });
    await copyFile(scenario('026-read-a-small-pdf/before/a.pdf'), world.path('a.pdf'));
    world.script({ parts: [call('Read', { file_path: world.path('a.pdf') }, 'toolu_p')] }, says('Seen.'));
    await world.post({ messages: [user('Go')] });
    world.script(says('Still.'));
    const messages = [user('Go'), { role: 'assistant', content: 'Seen.' }, user('And now?')];
    // Other tools are another process.
    await world.post({ messages, tools: [tool('weather')] });
    for (const index of [1, 2]) {
      const told = JSON.stringify(world.told(index));
      expect(told).toContain('"type":"document"');
      expect(told).toContain('"media_type":"application/pdf"');
    }
  });

  it('that change something are not for sub-agents that only read', async () => {
    const world = await openWorld(WALLED);
    const path = world.path('new.txt');
    world.script(
      {
        parts: [call('Agent', { description: 'look', prompt: 'Look', subagent_type: 'Explore' }, 'toolu_t')],
      },
      { parts: [call('Write', { file_path: path, content: 'x' }, 'toolu_w')] },
      says('Could not.'),
      says('Done.'),
    );
    await world.post({ messages: [user('Go')], tools: [tool('weather')] });
    const names = offered(world, 1);
    expect(names).toEqual(expect.arrayContaining(['Read', 'Grep', 'Bash']));
    for (const name of ['Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'MemoryWrite', 'mcp__gateway__weather'])
      expect(names).not.toContain(name);
    await expect(readFile(path)).rejects.toThrow(/ENOENT/);
    expect(JSON.stringify(world.told(2))).toContain('not on offer');
  });
});
