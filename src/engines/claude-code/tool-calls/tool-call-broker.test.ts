import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HookInput, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../../test/support/cleanup.js';
import { openToolWorld } from '../../../../test/support/tool-world.js';
import type { AgentActivityBody } from '../../../activity/activity.js';
import { configSchema } from '../../../config/schema.js';
import { toOffer } from '../../../tools/runtime/registry.js';
import { RunOnceLog } from '../../agent/run-once-log.js';
import type { Toolbox } from '../../agent/toolbox.js';
import { SubAgents } from './sub-agents.js';
import { ToolCallBroker } from './tool-call-broker.js';
import { planTools } from './tool-plan.js';

const toolbox: Toolbox = {
  offer: toOffer([]),
  definitions: ['Read', 'Bash'].map((name) => ({ name, inputSchema: { type: 'object' } })),
  hasClients: false,
  isClients: () => false,
  choice: (choice) => choice,
};

async function open(walled = false) {
  const heard: [agentId: string | undefined, activity: AgentActivityBody][] = [];
  const { path } = await tempFolder();
  const root = join(path, 'work');
  const deep = join(root, 'trees/one');
  await mkdir(deep, { recursive: true });
  await writeFile(join(root, 'secret.txt'), 'hidden words');
  const permissions = configSchema.shape.permissions.parse({ mode: 'allow', deny: ['Read(./secret.txt)'] });
  const { runtime, close } = await openToolWorld({ base: path, home: path, permissions });
  closeAfterTest(close);
  const session = await runtime.openToolState({
    id: 'one',
    principal: 'alice',
    workspace: { root, home: path },
  });
  const { signal } = new AbortController();
  const broker = new ToolCallBroker({
    plan: planTools(toolbox, { walled }),
    view: { note: () => {} },
    toolbox,
    runtime,
    toolState: session,
    agents: new SubAgents({ runtime, toolState: session }),
    signal,
    onChange: () => {},
    onBug: (error) => expect.unreachable(String(error)),
  });
  broker.turn = {
    runOnce: new RunOnceLog({ start: async () => true, finish: async () => {} }),
    options: { commands: [], model: 'm', forkNumber: 0, logName: 'one' },
    notify: (activity, agentId) => void heard.push([agentId, activity]),
  };
  /** A call of a sub-agent that is in `cwd`, as Claude Code asks about it. */
  const ask = async (
    name: string,
    input: Record<string, unknown>,
    cwd: string,
  ): Promise<PermissionResult> => {
    const hook: HookInput = {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      transcript_path: join(path, 's.jsonl'),
      cwd,
      agent_id: 'agent-1',
      tool_name: name,
      tool_input: input,
      tool_use_id: 'toolu_1',
    };
    await broker.preToolUse(hook, 'toolu_1', { signal });
    const answer = await broker.canUseTool(name, input, {
      signal,
      toolUseID: 'toolu_1',
      agentID: 'agent-1',
      requestId: 'r',
    });
    if (answer === null) throw new Error('No answer');
    return answer;
  };
  return { broker, session, root, deep, ask, heard };
}

describe('a call of a sub-agent', () => {
  it('is judged from the folder that it is made in', async () => {
    const { ask, deep, root, session } = await open();
    const up = { command: 'cat ../../secret.txt' };
    expect(await ask('Bash', up, deep)).toMatchObject({ behavior: 'deny' });
    expect(await ask('Read', { file_path: '../../secret.txt' }, deep)).toMatchObject({ behavior: 'deny' });
    expect(await ask('Bash', { command: 'cat secret.txt' }, deep)).toMatchObject({ behavior: 'allow' });
    expect(await ask('Bash', { command: 'cat secret.txt' }, root)).toMatchObject({ behavior: 'deny' });
    // It is not the main agent that has moved.
    expect(session.cwd).toBe(root);
  });
});

it('a call leaves the folder of the gateway’s own Bash alone where that is used', async () => {
  const { broker, session, deep, root } = await open(true);
  session.cwd = deep;
  const hook: HookInput = {
    hook_event_name: 'PreToolUse',
    session_id: 's',
    transcript_path: join(root, 's.jsonl'),
    cwd: root,
    tool_name: 'mcp__gateway__Bash',
    tool_input: {},
    tool_use_id: 'toolu_1',
  };
  await broker.preToolUse(hook, 'toolu_1', { signal: new AbortController().signal });
  expect(session.cwd).toBe(deep);
});

it('a call of a sub-agent that Claude Code itself refuses has failed, and does not stay pending', async () => {
  const { broker, heard } = await open();
  const call = { type: 'call-whole', id: 'c1', name: 'Imaginary', input: {} } as const;
  broker.notifyOnce(call, 'a1');
  const refused = [{ type: 'text' as const, text: 'No such tool available: Imaginary' }];
  const result = { type: 'tool_result', toolUseId: 'c1', content: refused, isError: true } as const;
  broker.endedFor(result);
  broker.endedFor(result);
  expect(heard).toEqual([
    ['a1', call],
    [
      'a1',
      {
        type: 'tool',
        event: {
          type: 'tool-result',
          id: 'c1',
          name: 'Imaginary',
          content: refused,
          isError: true,
          durationMs: 0,
          outcome: 'failed',
        },
      },
    ],
  ]);
});
