import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contentOf, openWorld, result, says, tool, user } from '../../support/claude-world.js';
import { call } from '../../support/wire.js';

const EVERYTHING = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

describe('tools that Claude Code does not bring', { timeout: 60_000 }, () => {
  it('are the gateway’s own, which know what Claude Code’s have read and planned', async () => {
    const world = await openWorld();
    const path = world.path('a.txt');
    await writeFile(path, 'one\n');
    const todos = [{ content: 'Write it', status: 'pending', activeForm: 'Writing it' }];
    world.script(
      { parts: [call('Read', { file_path: path }, 'toolu_1'), call('TodoWrite', { todos }, 'toolu_2')] },
      {
        parts: [
          call(
            'mcp__gateway__MultiEdit',
            { file_path: path, edits: [{ old_string: 'one', new_string: 'two' }] },
            'toolu_3',
          ),
          call('mcp__gateway__TodoRead', {}, 'toolu_4'),
          call('mcp__gateway__LS', { path: world.root }, 'toolu_5'),
        ],
      },
      says('Done.'),
    );
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(await readFile(path, 'utf8')).toBe('two\n');
    const told = JSON.stringify(world.told(2));
    expect(told).toContain('Write it');
    expect(told).toContain('a.txt');
  });

  it('are those of MCP servers under their own names', async () => {
    const world = await openWorld({
      config: { mcp_servers: { every: { type: 'stdio', command: process.execPath, args: [EVERYTHING] } } },
    });
    await world.connected('every');
    world.script({ parts: [call('mcp__every__echo', { message: 'heard' }, 'toolu_1')] }, says('Done.'));
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(JSON.stringify(world.told(1))).toContain('Echo: heard');
  });

  it('are only those that the operator offers', async () => {
    const world = await openWorld({ model: { tools: ['Read', 'LS'] } });
    world.script(says('Done.'));
    await world.post({ messages: [user('Go')], tools: [tool('weather')] });
    const { tools } = world.upstream.requests[0]?.json ?? {};
    const names = Array.isArray(tools) ? tools.map(({ name }: { name: string }) => name) : [];
    expect(names.filter((name) => name !== 'DeferredToolPlaceholder')).toEqual([
      'Read',
      'LS',
      'mcp__gateway__weather',
    ]);
  });

  it('keep calls apart whose ids the upstream uses again', async () => {
    const world = await openWorld({ dialect: 'openai-chat' });
    const weather = (city: string) => ({ parts: [call('mcp__gateway__weather', { city }, 'call_1')] });
    world.script(weather('Rome'), weather('Oslo'), says('Done.'));
    const tools = [tool('weather')];
    const messages: object[] = [user('Go')];
    const ids: unknown[] = [];
    for (const said of ['sun', 'snow']) {
      const answer = await world.post({ messages, tools });
      const [made] = contentOf(answer);
      expect(made).toMatchObject({ type: 'tool_use', name: 'weather' });
      ids.push(made?.['id']);
      messages.push(
        { role: 'assistant', content: answer.body['content'] },
        user([result(String(made?.['id']), said)]),
      );
    }
    const end = await world.post({ messages, tools });
    expect(contentOf(end)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(new Set(ids).size).toBe(2);
    const told = JSON.stringify(world.told(2));
    expect(told).toContain('sun');
    expect(told).toContain('snow');
  });
});
