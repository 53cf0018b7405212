/** `/mcp/auth` with the official client: what a Claude Code elsewhere is told about its own tools. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import {
  api,
  type ConnectedClient,
  connect,
  decide,
  lookIn,
  pending,
  startVirtual,
  textOf,
  type VirtualOptions,
} from './mcp-virtual-harness.js';

async function open(options: VirtualOptions = {}, client: Parameters<typeof connect>[1] = {}) {
  const gateway = await startVirtual(options);
  await lookIn(gateway);
  return { gateway, ...(await connect(gateway, { server: 'auth', query: '', ...client })) };
}

async function prompt(
  { client }: Pick<ConnectedClient, 'client'>,
  tool_name: string,
  input: object,
  more: object = {},
): Promise<JsonRecord> {
  const result = await client.callTool({
    name: 'approval_prompt',
    arguments: { tool_name, input, ...more },
  });
  const answer: unknown = JSON.parse(textOf(result));
  if (!isRecord(answer)) throw new Error('no answer');
  return answer;
}

describe('approval_prompt', () => {
  it('is all that there is', async () => {
    const { client } = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['approval_prompt']);
    await expect(client.callTool({ name: 'Bash', arguments: {} })).rejects.toThrow(McpError);
    await expect(client.callTool({ name: 'approval_prompt', arguments: {} })).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining('tool_name'),
    });
  });

  it('answers by the rules, exactly in the form that Claude Code reads', async () => {
    const opened = await open({ permissions: { mode: 'deny', allow: ['Bash(git log:*)'] } });
    const input = { command: 'git log', description: 'History', more: { of: 'it' } };
    expect(await prompt(opened, 'Bash', input)).toEqual({ behavior: 'allow', updatedInput: input });
    expect(await prompt(opened, 'Bash', { command: 'git push' })).toEqual({
      behavior: 'deny',
      message: expect.stringMatching(/^Bash was not run: .*mode is deny/),
    });
    expect(await prompt(opened, 'Unknown', {})).toMatchObject({ behavior: 'deny' });
  });

  it('asks the people of the key, and says in their words what they said', async () => {
    const opened = await open({ permissions: { mode: 'ask' } }, { key: 'key-of-bob' });
    const { gateway } = opened;
    const denied = prompt(opened, 'Bash', { command: 'make' }, { tool_use_id: 'toolu_01' });
    const approval = await pending(gateway);
    expect(approval).toMatchObject({ tool: 'Bash', input: { command: 'make' } });
    await decide(gateway, approval, { decision: 'deny', reason: 'Use ninja' });
    expect(await denied).toEqual({
      behavior: 'deny',
      message: expect.stringMatching(/"alice" refused this call to Bash.*They said: Use ninja\./),
    });
    const changed = prompt(opened, 'Bash', { command: 'make' });
    await decide(gateway, await pending(gateway), { decision: 'allow', updatedInput: { command: 'ninja' } });
    expect(await changed).toEqual({ behavior: 'allow', updatedInput: { command: 'ninja' } });
    const { json } = await api(gateway, '/api/approvals', { key: 'key-of-eve' });
    expect(json['data']).toEqual([]);
  });

  it('keeps rules that were made for the session, and for no other', async () => {
    const opened = await open({ permissions: { mode: 'ask' } });
    const { gateway } = opened;
    const first = prompt(opened, 'Bash', { command: 'git log -1' });
    const decided = await decide(gateway, await pending(gateway), {
      decision: 'allow',
      rule: { rule: 'Bash(git log:*)', scope: 'session' },
    });
    expect(decided).toMatchObject({ status: 200 });
    expect(await first).toMatchObject({ behavior: 'allow' });
    expect(await prompt(opened, 'Bash', { command: 'git log -2' })).toMatchObject({ behavior: 'allow' });
    const other = await connect(gateway, { server: 'auth', query: '' });
    const asked = prompt(other, 'Bash', { command: 'git log -2' });
    await decide(gateway, await pending(gateway), { decision: 'deny' });
    expect(await asked).toMatchObject({ behavior: 'deny' });
  });

  it('tells a time-out from a refusal', async () => {
    const opened = await open({ permissions: { mode: 'ask', approval_timeout_s: 1 } });
    expect(await prompt(opened, 'Bash', { command: 'make' })).toEqual({
      behavior: 'deny',
      message: expect.stringMatching(
        /nobody answered the request for approval within 1 s\. That is not a refusal/,
      ),
    });
  });

  it('says how to allow it where nobody is there', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const client = await connect(gateway, { server: 'auth', query: '' });
    expect(await prompt(client, 'Bash', { command: 'make' })).toEqual({
      behavior: 'deny',
      message: expect.stringMatching(/nobody is connected who could give it.*permissions\.allow/),
    });
  });

  it('judges by the folder that the client works in', async () => {
    const { path } = await tempFolder('elsewhere');
    const permissions = { mode: 'deny', allow: ['Read'], deny: ['Read(./secret/**)'] };
    const opened = await open({ permissions }, { roots: [path] });
    const read = (file: string) => prompt(opened, 'Read', { file_path: file });
    expect(await read(join(path, 'a.txt'))).toMatchObject({ behavior: 'allow' });
    expect(await read(join(path, 'secret/a.txt'))).toMatchObject({ behavior: 'deny' });
    expect(await read(join(process.cwd(), 'package.json'))).toMatchObject({ behavior: 'deny' });
    const here = await connect(opened.gateway, { server: 'auth', query: '' });
    expect(await prompt(here, 'Read', { file_path: join(path, 'a.txt') })).toMatchObject({
      behavior: 'deny',
    });
    expect(await prompt(here, 'Read', { file_path: join(process.cwd(), 'package.json') })).toMatchObject({
      behavior: 'allow',
    });
  });

  it('does not let a search come across what must not be read', async () => {
    const { path } = await tempFolder('elsewhere');
    await mkdir(join(path, 'src'));
    await writeFile(join(path, '.env'), 'KEY=1');
    const opened = await open({ permissions: { mode: 'allow', deny: ['Read(./.env)'] } }, { roots: [path] });
    for (const name of ['Grep', 'Glob']) {
      expect(await prompt(opened, name, { pattern: '**' })).toEqual({
        behavior: 'deny',
        message: expect.stringMatching(/\.\/\.env, .*narrower folder/),
      });
      const narrow = { pattern: '**', path: join(path, 'src') };
      expect(await prompt(opened, name, narrow)).toEqual({ behavior: 'allow', updatedInput: narrow });
    }
  });

  it('takes a folder that is on another machine', async () => {
    const permissions = { mode: 'deny', allow: ['Edit'] };
    const opened = await open({ permissions }, { roots: ['/far/away/project'] });
    const input = { file_path: '/far/away/project/a.ts', old_string: 'a', new_string: 'b' };
    expect(await prompt(opened, 'Edit', input)).toEqual({ behavior: 'allow', updatedInput: input });
  });

  it('answers many at once, each its own', async () => {
    const opened = await open({ permissions: { mode: 'deny', allow: ['Bash(echo:*)'] } });
    const commands = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? `echo ${index}` : `rm ${index}`,
    );
    const answers = await Promise.all(commands.map((command) => prompt(opened, 'Bash', { command })));
    expect(answers.map(({ behavior }) => behavior)).toEqual(
      commands.map((command) => (command.startsWith('echo') ? 'allow' : 'deny')),
    );
    expect(answers[4]).toMatchObject({ updatedInput: { command: 'echo 4' } });
  });
});
