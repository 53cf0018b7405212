/**
 * Claude Code as it is installed, started by hand: this gateway is its model, decides about its
 * tools (`/mcp/auth`), and lends it tools of its own (`/mcp/gateway`).
 */
import { describe, expect, it } from 'vitest';
import type { VirtualLimits } from '../../src/mcp/virtual/limits.js';
import { decide, lookIn, pending, stableAddress, startVirtual } from '../e2e/mcp-virtual-harness.js';
import { LONG } from '../faults/counts.js';
import { startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { isRecord } from '../support/violation.js';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import type { Lane } from './lanes.js';
import { resultsOf } from './read-request.js';
import { type Conversations, ScriptedModel, say, use } from './scripted-model.js';
import { makeWorkspace, type Workspace } from './workspace.js';

const KEY = 'key-of-alice';
const KEYS = [{ key: KEY, name: 'alice', scopes: ['call', 'approve', 'admin'], models: ['*'] }];

/** Longer than the clock by which Claude Code looks for silent calls. */
const WAIT_S = 33;

interface Options {
  permissions: object;
  conversations: Conversations;
  limits?: Partial<VirtualLimits>;
  more?: object;
}

async function open({ permissions, conversations, limits, more }: Options): Promise<Lane> {
  const model = new ScriptedModel(conversations);
  const upstream = await startUpstream(model.script);
  const gateway = await startTestGateway({
    config: {
      server: { keys: KEYS },
      upstreams: { scripted: upstream.config('anthropic-messages') },
      models: { '*': { upstream: 'scripted' } },
      permissions,
      sandbox: 'off',
      ...more,
    },
    ...(limits === undefined ? {} : { virtualLimits: limits }),
  });
  return { dialect: 'anthropic-messages', gateway, upstream, model };
}

interface StartOptions {
  allowed?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Of another gateway than the one that answers for the model. */
  servers?: string;
}

function start(lane: Lane, workspace: Workspace, prompt: string, options: StartOptions = {}): ClaudeRun {
  const server = (name: string) => ({
    type: 'http',
    url: `${options.servers ?? lane.gateway.url}/mcp/${name}`,
    headers: { Authorization: `Bearer ${KEY}` },
  });
  const config = { mcpServers: { auth: server('auth'), gateway: server('gateway') } };
  return new ClaudeRun(lane, workspace, {
    prompt,
    allowed: options.allowed ?? [],
    args: [
      '--mcp-config',
      JSON.stringify(config),
      '--strict-mcp-config',
      '--permission-prompt-tool',
      'mcp__auth__approval_prompt',
    ],
    env: { ANTHROPIC_API_KEY: KEY, ...options.env },
  });
}

/** What the model was told about a call. */
function toldOf({ model }: Lane, id: string): { text: string; isError: boolean } {
  const last = model.played.at(-1)?.seen;
  const result = last === undefined ? undefined : resultsOf(last).find((each) => each.id === id);
  if (result === undefined) throw new Error(`no result of ${id}: ${JSON.stringify(model.problems)}`);
  return { text: result.text, isError: result.isError };
}

const bash = (command: string, id: string) => call('Bash', { command, description: 'Do something' }, id);

describe('Claude Code that asks this gateway', () => {
  it('runs what a person allowed, and is not asked about what a rule allows', async () => {
    const workspace = await makeWorkspace();
    const lane = await open({
      permissions: { mode: 'ask', allow: ['Bash(touch by-rule)'] },
      conversations: {
        'Make two files': [
          use([bash('touch by-rule', 'toolu_rule')]),
          use([bash('touch by-person', 'toolu_person')]),
          say('Both are there.'),
        ],
      },
    });
    await lookIn(lane.gateway);
    const run = start(lane, workspace, 'Make two files');
    const approval = await pending(lane.gateway);
    expect(approval).toMatchObject({ tool: 'Bash', input: { command: 'touch by-person' } });
    expect(JSON.stringify(approval['describe'])).toContain(workspace.path);
    await decide(lane.gateway, approval, { decision: 'allow' });
    expect(await run.ends()).toMatchObject({ result: 'Both are there.' });
    expect(await workspace.read('by-rule')).toBe('');
    expect(await workspace.read('by-person')).toBe('');
  });

  it('tells its model in the words of the person why a call was refused', async () => {
    const workspace = await makeWorkspace();
    const lane = await open({
      permissions: { mode: 'ask' },
      conversations: { 'Publish it': [use([bash('touch published', 'toolu_no')]), say('Then not.')] },
    });
    await lookIn(lane.gateway);
    const run = start(lane, workspace, 'Publish it');
    await decide(lane.gateway, await pending(lane.gateway), { decision: 'deny', reason: 'Not on a Friday' });
    await run.exited;
    expect(run.result).toMatchObject({ result: 'Then not.' });
    expect(toldOf(lane, 'toolu_no')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/"alice" refused this call to Bash.*Not on a Friday/),
    });
    await expect(workspace.read('published')).rejects.toThrow();
  });

  it('runs the input that a person put in place', async () => {
    const workspace = await makeWorkspace();
    const lane = await open({
      permissions: { mode: 'ask' },
      conversations: { 'Make a file': [use([bash('touch wrong', 'toolu_changed')]), say('Made.')] },
    });
    await lookIn(lane.gateway);
    const run = start(lane, workspace, 'Make a file');
    const updatedInput = { command: 'touch right && echo made right', description: 'Do it right' };
    await decide(lane.gateway, await pending(lane.gateway), { decision: 'allow', updatedInput });
    await run.ends();
    expect(await workspace.read('right')).toBe('');
    await expect(workspace.read('wrong')).rejects.toThrow();
    expect(toldOf(lane, 'toolu_changed').text).toContain('made right');
  });

  it('is told when nobody answered in time, which is not a refusal', async () => {
    const workspace = await makeWorkspace();
    const lane = await open({
      permissions: { mode: 'ask', approval_timeout_s: 1 },
      conversations: { 'Make a file': [use([bash('touch late', 'toolu_late')]), say('Nobody was there.')] },
    });
    await lookIn(lane.gateway);
    const run = start(lane, workspace, 'Make a file');
    await run.exited;
    expect(run.result).toMatchObject({ result: 'Nobody was there.' });
    expect(toldOf(lane, 'toolu_late').text).toMatch(/nobody answered.*within 1 s.*not a refusal/);
    await expect(workspace.read('late')).rejects.toThrow();
  });

  it('sees the change to a file before it is made', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'one\n' });
    const file = workspace.at('a.txt');
    const lane = await open({
      permissions: { mode: 'ask', allow: ['Read'] },
      conversations: {
        'Change the file': [
          use([call('Read', { file_path: file }, 'toolu_read')]),
          use([call('Edit', { file_path: file, old_string: 'one', new_string: 'two' }, 'toolu_edit')]),
          say('Changed.'),
        ],
      },
    });
    await lookIn(lane.gateway);
    const run = start(lane, workspace, 'Change the file');
    const approval = await pending(lane.gateway);
    const { describe: shown } = approval;
    expect(isRecord(shown) && shown['diff']).toContain('+two');
    await decide(lane.gateway, approval, { decision: 'allow' });
    await run.ends();
    expect(await workspace.read('a.txt')).toBe('two\n');
  });

  it('uses the tools of the gateway, which asks by itself', async () => {
    const workspace = await makeWorkspace();
    const folder = await makeWorkspace({ 'there.txt': 'of the gateway\n' });
    const lane = await open({
      permissions: { mode: 'ask', allow: ['Read(//**)'] },
      conversations: {
        'Look there': [
          use([call('mcp__gateway__Read', { file_path: folder.at('there.txt') }, 'toolu_there')]),
          use([call('mcp__gateway__Bash', { command: 'echo from the gateway' }, 'toolu_asked')]),
          say('Seen.'),
        ],
      },
    });
    await lookIn(lane.gateway);
    const run = start(lane, workspace, 'Look there', { allowed: ['mcp__gateway'] });
    const approval = await pending(lane.gateway);
    expect(approval).toMatchObject({ tool: 'Bash', input: { command: 'echo from the gateway' } });
    await decide(lane.gateway, approval, { decision: 'allow' });
    expect(await run.ends()).toMatchObject({ result: 'Seen.' });
    expect(toldOf(lane, 'toolu_there').text).toContain('of the gateway');
    expect(toldOf(lane, 'toolu_asked').text).toContain('from the gateway');
  });

  // Half a minute in which nothing happens.
  if (LONG)
    it('waits for a person longer than it bears silence', async () => {
      const workspace = await makeWorkspace();
      const lane = await open({
        permissions: { mode: 'ask', approval_timeout_s: WAIT_S },
        limits: { progressMs: 200 },
        conversations: {
          'Take your time': [use([bash('touch late', 'toolu_late')]), say('It took a while.')],
        },
      });
      await lookIn(lane.gateway);
      // A call that says nothing for this long is given up, without the setting after five minutes; it looks every 30 s.
      const env = { CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '1000' };
      const run = start(lane, workspace, 'Take your time', { env });
      await run.exited;
      expect(run.result).toMatchObject({ result: 'It took a while.' });
      expect(toldOf(lane, 'toolu_late').text).toMatch(/nobody answered.*not a refusal/);
    }, 120_000);

  it('goes on with a gateway that was restarted', async () => {
    const workspace = await makeWorkspace();
    const folder = await makeWorkspace({ 'there.txt': 'of the gateway\n' });
    const address = await stableAddress();
    const more = { server: { keys: KEYS, public_hosts: [address.host] } };
    const first = await startVirtual({ more });
    address.leadTo(first);
    const read = (id: string) => use([call('mcp__gateway__Read', { file_path: folder.at('there.txt') }, id)]);
    const lane = await open({
      permissions: { mode: 'deny' },
      conversations: {
        'Look twice': [
          read('toolu_before'),
          async () => {
            await first.close();
            address.leadTo(await startVirtual({ more }));
            return read('toolu_after');
          },
          say('Seen twice.'),
        ],
      },
    });
    const run = start(lane, workspace, 'Look twice', { allowed: ['mcp__gateway'], servers: address.url });
    await run.exited;
    expect(run.result, run.report()).toMatchObject({ result: 'Seen twice.' });
    expect(toldOf(lane, 'toolu_before').text).toContain('of the gateway');
    expect(toldOf(lane, 'toolu_after').text).toContain('of the gateway');
  });
});
