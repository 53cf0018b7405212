import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { incomingMessage } from '../../../../src/engines/claude-code/processes/transcript-entries.js';
import { type Bench, createBench, readTo, say, user } from '../../../support/claude-processes-bench.js';
import { errorInDialect, inDialect } from '../../../support/scripted-answers.js';
import type { ScriptFunction } from '../../../support/scripted-upstream.js';
import { type Scripted, textAnswer } from '../../../support/wire.js';

const calls = (name: string, input: object): Scripted => ({
  parts: [{ type: 'call', id: 'toolu_1', name, arguments: JSON.stringify(input) }],
});

/** The first answer calls a tool, the second is text. */
const once =
  (first: Scripted): ScriptFunction =>
  (request, index) =>
    inDialect(index === 0 ? first : textAnswer('Done.'))(request, index);

const resultText = (bench: Bench): string => JSON.stringify(bench.told().at(-1)?.content);

describe('a conversation with Claude Code', () => {
  it('has text of clients as it was written: no commands, no files, no shell, no memory', async () => {
    const bench = await createBench();
    await writeFile(join(bench.profile.cwd, 'secret.txt'), 'CONTENT-OF-THE-FILE');
    const process = await bench.open();
    const texts = ['/help', '@secret.txt', '@/etc/passwd what is this', '!ls', '#remember this', '/clear'];
    for (const said of texts) await say(process, user(said));
    expect(bench.calls()).toHaveLength(texts.length);
    const said = bench.told().filter(({ role }) => role === 'user');
    expect(said.map(({ content }) => content)).toEqual(texts.map((text) => [{ type: 'text', text }]));
    expect(bench.calls().at(-1)?.text).not.toMatch(/CONTENT-OF-THE-FILE|root:x:/);
  });

  it('runs nothing of the project, and reads its instructions when it is opened', async () => {
    const bench = await createBench({ spares: 1 });
    const { cwd } = bench.profile;
    const touch = (name: string) => ({ hooks: [{ type: 'command', command: `touch ${join(cwd, name)}` }] });
    await mkdir(join(cwd, '.claude', 'commands'), { recursive: true });
    await writeFile(
      join(cwd, '.claude', 'settings.json'),
      JSON.stringify({
        hooks: { SessionStart: [touch('START')], UserPromptSubmit: [touch('PROMPT')] },
        env: { FROM_PROJECT: '1' },
        permissions: { allow: ['Bash'] },
      }),
    );
    const server = { command: 'touch', args: [join(cwd, 'SERVER')] };
    await writeFile(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { evil: server } }));
    await writeFile(join(cwd, 'CLAUDE.md'), 'OLD INSTRUCTIONS');
    bench.processes.prepare(bench.profile);
    const first = await bench.open();
    await first.close();
    await writeFile(join(cwd, 'CLAUDE.md'), 'NEW INSTRUCTIONS');
    const process = await bench.open();
    await say(process, user('hello'));
    const system = JSON.stringify(bench.calls().at(-1)?.json['system']);
    expect(system).toContain('NEW INSTRUCTIONS');
    expect(bench.calls().at(-1)?.text).not.toContain('OLD INSTRUCTIONS');
    expect(execFileSync('ls', [cwd], { encoding: 'utf8' }).split('\n').filter(Boolean)).toEqual([
      'CLAUDE.md',
    ]);
  });

  it('keeps secrets of the gateway and its own key from commands', async () => {
    const bench = await createBench({
      script: once(calls('Bash', { command: 'env; tr "\\0" "\\n" < /proc/$PPID/environ; echo "at $HOME"' })),
      environment: { ...globalThis.process.env, OPENAI_API_KEY: 'sk-of-the-gateway' },
    });
    const process = await bench.open();
    await say(process, user('look'));
    const [first] = bench.calls();
    expect(first?.headers['x-api-key']).toBe(process.credential);
    expect(resultText(bench)).toContain(`at ${bench.stateDir}`);
    expect(resultText(bench)).not.toContain('sk-of-the-gateway');
    expect(resultText(bench)).not.toContain(process.credential);
  });

  it('carries the model name of its profile on every call, whatever Claude Code would make of it', async () => {
    const bench = await createBench({ profile: { model: 'opus' } });
    await say(await bench.open(), user('hello'));
    expect(bench.calls().map(({ json }) => json['model'])).toEqual(['opus']);
  });

  it.each([400, 429, 500])('asks once when the upstream answers %i', async (status) => {
    const bench = await createBench({ script: errorInDialect(status, 'api_error', 'No.') });
    await say(await bench.open(), user('hello'));
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it('has the client’s prompt in the place of its own where it is to replace it', async () => {
    const bench = await createBench({ profile: { tools: [] } });
    await writeFile(join(bench.profile.cwd, 'CLAUDE.md'), 'INSTRUCTIONS');
    await say(await bench.open({ system: { mode: 'replace', text: 'You are a poet.' } }), user('hello'));
    const { system, tools } = bench.calls()[0]?.json ?? {};
    expect(JSON.stringify(system)).toContain('You are a poet.');
    expect(JSON.stringify(system)).not.toContain('You are Claude Code');
    expect(bench.calls()[0]?.text).not.toContain('INSTRUCTIONS');
    expect(tools ?? []).toEqual([]);
  });

  it('blocks a call whose hook fails', async () => {
    const bench = await createBench({ script: once(calls('Bash', { command: 'touch RAN' })) });
    const none = async () => ({});
    const preToolUse = async () => {
      throw new Error('The rules cannot be read.');
    };
    const process = await bench.open({
      hooks: { preToolUse, postToolUse: none, postToolUseFailure: none },
    });
    await say(process, user('go'));
    expect(bench.told().at(-1)?.content).toMatchObject([{ type: 'tool_result', is_error: true }]);
    expect(execFileSync('ls', [bench.profile.cwd], { encoding: 'utf8' })).toBe('');
  });
});

describe('a spare process', () => {
  it('becomes any conversation: its prompt, servers, hooks, permissions and key', async () => {
    const bench = await createBench({
      spares: 1,
      script: once(calls('mcp__gateway__weather', { city: 'Bern' })),
    });
    bench.processes.prepare(bench.profile);
    const asked: string[] = [];
    const note = (what: string) => async () => {
      asked.push(what);
      return {};
    };
    const handler = async ({ city }: { city: string }) => {
      asked.push('handler');
      return { content: [{ type: 'text' as const, text: `Sunny in ${city}` }] };
    };
    const gateway = createSdkMcpServer({
      name: 'gateway',
      tools: [tool('weather', 'The weather', { city: z.string() }, handler)],
    });
    const process = await bench.open({
      servers: { gateway },
      system: { mode: 'append', text: 'SAID TO THIS ONE' },
      hooks: {
        preToolUse: note('before'),
        postToolUse: note('after'),
        postToolUseFailure: note('failure'),
      },
      canUseTool: async (name, input) => {
        asked.push(`may ${name}`);
        return { behavior: 'allow', updatedInput: { ...input, city: 'Basel' } };
      },
    });
    expect(process.fromSpare).toBe(true);
    const messages = await say(process, user('hello'));
    const [first] = bench.calls();
    expect(first?.headers['x-api-key']).toBe(process.credential);
    expect(JSON.stringify(first?.json['system'])).toContain('SAID TO THIS ONE');
    expect(messages.find((message) => message.type === 'system' && message.subtype === 'init')).toMatchObject(
      {
        mcp_servers: [{ name: 'gateway', status: 'connected' }],
        tools: ['Bash', 'Read', 'mcp__gateway__weather'],
      },
    );
    expect(asked).toEqual(['before', 'may mcp__gateway__weather', 'handler', 'after']);
    expect(resultText(bench)).toContain('Sunny in Basel');
  });

  it('is replaced when the one before has begun to work, and is another', async () => {
    const bench = await createBench({ spares: 1 });
    const first = await bench.open();
    expect(first.fromSpare).toBe(false);
    await say(first, user('hello'));
    const second = await bench.open();
    expect(second.fromSpare).toBe(true);
    await say(second, user('hello'));
    expect(second.pid).not.toBe(first.pid);
    expect(second.credential).not.toBe(first.credential);
    await bench.processes.close();
    expect(await bench.folders()).toEqual([]);
  });

  it('is not for a conversation that goes on, nor for another folder', async () => {
    const bench = await createBench({ spares: 1 });
    bench.processes.prepare(bench.profile);
    const { cwd } = bench.profile;
    await mkdir(join(cwd, 'sub'));
    const history = [user('a'), { ...user('b'), role: 'assistant' as const }];
    const opened = await Promise.all([
      bench.open({ history }),
      bench.open({ profile: { ...bench.profile, cwd: join(cwd, 'sub') } }),
    ]);
    expect(opened.map(({ fromSpare: warm }) => warm)).toEqual([false, false]);
  });
});

describe('its reader', () => {
  it('may stop and come again: the process goes on', async () => {
    const bench = await createBench();
    const process = await bench.open();
    process.send(incomingMessage([user('one')]).message);
    for await (const message of { [Symbol.asyncIterator]: () => process.messages }) {
      if (message.type === 'stream_event') break;
    }
    await readTo(process, 'result');
    await say(process, user('two'));
    expect(bench.calls()).toHaveLength(2);
  });
});
