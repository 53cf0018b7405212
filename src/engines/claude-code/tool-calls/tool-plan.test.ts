import { describe, expect, it } from 'vitest';
import type { Message, ToolDefinition } from '../../../core/conversation.js';
import { toOffer } from '../../../tools/runtime/registry.js';
import type { Toolbox } from '../../agent/toolbox.js';
import { claudeMessages, planTools } from './tool-plan.js';

function plan(own: readonly string[], clients: readonly string[] = [], walled = false) {
  const definition = (name: string): ToolDefinition => ({
    name,
    inputSchema: { type: 'object', anyOf: [{}] },
  });
  const toolbox: Toolbox = {
    offer: toOffer([]),
    definitions: [...own, ...clients].map(definition),
    hasClients: clients.length > 0,
    isClients: (name) => clients.includes(name),
    choice: (choice) => choice,
  };
  return planTools(toolbox, { walled });
}

describe('the tools of a conversation', () => {
  it('are Claude Code’s own, the gateway’s and the client’s, each under the name that its model knows', () => {
    const tools = plan(['Read', 'Task', 'LS', 'mcp__docs__search'], ['get_weather']);
    expect(tools.claude).toEqual(['Read', 'Task']);
    expect([...tools.servers].map(([server, served]) => [server, served.map(({ name }) => name)])).toEqual([
      ['gateway', ['LS', 'get_weather']],
      ['docs', ['search']],
    ]);
    const names = ['Read', 'Task', 'LS', 'mcp__docs__search', 'get_weather'].map(tools.claudeName);
    expect(names).toEqual([
      'Read',
      'Agent',
      'mcp__gateway__LS',
      'mcp__docs__search',
      'mcp__gateway__get_weather',
    ]);
    expect(names.map(tools.ownerOf)).toEqual(['claude', 'claude', 'gateway', 'gateway', 'client']);
    expect(tools.plain('Agent')).toBe('Task');
    expect(tools.ownerOf('get_weather')).toBeUndefined();
  });

  it('leave out what needs commands in the background', () => {
    expect([...plan(['BashOutput', 'KillShell']).servers]).toEqual([]);
  });

  it('leave commands and files to the gateway where there is a wall', () => {
    const own = ['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Bash', 'BashOutput'];
    const tools = plan([...own, 'TodoWrite'], [], true);
    expect(tools.claude).toEqual(['TodoWrite']);
    expect(tools.servers.get('gateway')?.map(({ name }) => name)).toEqual(own);
    expect(own.map(tools.claudeName).map(tools.toModel)).toEqual(own);
    expect(own.map(tools.fromModel)).toEqual(own.map(tools.claudeName));
  });

  it('are shown to the model by plain names, those of the client and of MCP servers apart', () => {
    const tools = plan(['Read', 'Task', 'LS', 'mcp__docs__search'], ['get_weather']);
    const names = ['Read', 'Agent', 'mcp__gateway__LS', 'mcp__docs__search', 'mcp__gateway__get_weather'];
    const shown = ['Read', 'Agent', 'LS', 'mcp__docs__search', 'mcp__gateway__get_weather'];
    expect(names.map(tools.toModel)).toEqual(shown);
    expect(shown.map(tools.fromModel)).toEqual(names);
  });

  it('keep schemas as they came', () => {
    expect(plan([], ['x']).served('gateway', 'x')?.inputSchema).toEqual({ type: 'object', anyOf: [{}] });
  });

  it('stay apart where two names fit into one', () => {
    const tools = plan([], ['a.b', 'a_b']);
    expect(['a.b', 'a_b'].map(tools.claudeName)).toEqual(['mcp__gateway__a_b', 'mcp__gateway__a_b_2']);
    expect(tools.plain('mcp__gateway__a_b_2')).toBe('a_b');
  });

  it('are named in a history as the model knows them', () => {
    const history: Message[] = [
      { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'get_weather', input: {} }] },
    ];
    expect(claudeMessages(history, plan([], ['get_weather']))[0]?.content).toMatchObject([
      { name: 'mcp__gateway__get_weather' },
    ]);
  });
});
