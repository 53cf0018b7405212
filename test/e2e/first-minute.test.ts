/** A stranger's first minute: the command without a file, its agents, and who answers to which name. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { type GatewayProcess, runCommand, startGatewayProcess } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { textAnswer } from '../support/wire.js';

const NOTE = 'the-word-in-the-note';

const DEMO_AGENTS = {
  coder: { engine: 'native', upstream: 'demo', cwd: './work' },
  'claude-coder': { engine: 'claude-code', upstream: 'demo', cwd: './work' },
};

async function startHere(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const { path: folder } = await tempFolder('toolgate-first');
  await writeFile(join(folder, 'note.txt'), `${NOTE}\n`);
  return startGatewayProcess({ folder, env });
}

/** One question over each of the three APIs, by the official clients. */
async function askEverywhere(url: string, model: string, question: string): Promise<string[]> {
  const openai = openaiClient(url);
  const message = await anthropicClient(url).messages.create({
    model,
    max_tokens: 1000,
    messages: [{ role: 'user', content: question }],
  });
  const completion = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: question }],
  });
  const response = await openai.responses.create({ model, input: question });
  return [
    message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    completion.choices[0]?.message.content ?? '',
    response.output_text,
  ];
}

const modelNames = async (url: string): Promise<string[]> => {
  const names: string[] = [];
  for await (const { id } of openaiClient(url).models.list()) names.push(id);
  return names;
};

describe('without a file and without a key', { timeout: 60_000 }, () => {
  it('there are agents that read their own folder over every API, though nobody is there to approve', async () => {
    const gateway = await startHere();
    expect(await modelNames(gateway.url)).toEqual(['agent', 'claude-code', 'demo']);
    for (const answer of await askEverywhere(gateway.url, 'agent', 'Read note.txt')) {
      expect(answer).toContain(NOTE);
    }
    for (const answer of await askEverywhere(gateway.url, 'agent', 'Run touch made.txt')) {
      expect(answer).toContain('needs the approval of a person');
    }
  });

  it('Claude Code is one of them', async () => {
    const gateway = await startHere();
    const { content } = await anthropicClient(gateway.url).messages.create({
      model: 'claude-code',
      max_tokens: 4000,
      messages: [{ role: 'user', content: 'Read note.txt' }],
    });
    expect(JSON.stringify(content)).toContain(NOTE);
  });
});

describe('without a file and with the key of OpenAI alone', { timeout: 60_000 }, () => {
  it("every name of Claude's goes to the provider's models by tier, and none to the demo model", async () => {
    const upstream = await startUpstream((request, index) =>
      inDialect(textAnswer('From the provider.'))(request, index),
    );
    const { base_url } = upstream.config('openai-chat');
    const gateway = await startHere({ OPENAI_API_KEY: 'key-of-openai', OPENAI_BASE_URL: String(base_url) });
    const client = anthropicClient(gateway.url);
    const asked = [
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
      'claude-3-5-haiku-20241022',
      'agent',
    ];
    for (const model of asked) {
      const { content } = await client.messages.create({
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
      });
      expect(content, model).toMatchObject([{ type: 'text', text: 'From the provider.' }]);
    }
    expect(
      upstream.requests.filter(({ json }) => 'messages' in json).map(({ json }) => json['model']),
    ).toEqual(['gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.6-luna', 'gpt-5.6-terra']);
    const unknown = client.messages.create({
      model: 'no-such-model',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await expect(unknown).rejects.toSatisfy(
      (error) =>
        error instanceof Anthropic.NotFoundError &&
        /not configured\. Known: agent, .*claude-\*/.test(error.message),
    );
  });
});

describe('a file that cannot answer', { timeout: 60_000 }, () => {
  it('for want of models says so at the start and in doctor, lists none and refuses each', async () => {
    const config = { server: { port: 0 }, permissions: { mode: 'deny' } };
    const gateway = await startGatewayProcess({ config });
    const said = 'names no model, so every request is refused';
    await gateway.printed(/refused\.\n.*init --force/);
    expect(gateway.stdout).toContain(said);
    expect(gateway.stdout).not.toContain('demo model answers');
    expect(await modelNames(gateway.url)).toEqual([]);
    await expect(askEverywhere(gateway.url, 'demo', 'Hello')).rejects.toThrow(
      /^404 .*No model is configured/,
    );
    const doctor = await runCommand({ config, args: ['doctor', '--config', 'toolgate.yaml'] });
    expect((await doctor.exited).code).toBe(1);
    expect(doctor.stdout.split(said)).toHaveLength(2);
    expect(doctor.stdout).not.toContain('demo model answers');
  });

  it('for want of a folder says so at the start and in doctor, is asked once by an SDK, and works once it is there', async () => {
    const config = { server: { port: 0 }, models: DEMO_AGENTS };
    const gateway = await startGatewayProcess({ config });
    await gateway.printed(/coder has no folder to work in: \S+work does not exist\.\n {2}→ mkdir -p/);
    const doctor = await runCommand({
      config,
      folder: gateway.folder,
      args: ['doctor', '--config', 'toolgate.yaml'],
    });
    expect((await doctor.exited).code).toBe(1);
    expect(doctor.stdout).toMatch(/^FAIL {2}models\s+coder has no folder to work in/m);

    let sent = 0;
    const counted = (...given: Parameters<typeof fetch>): Promise<Response> => {
      sent += 1;
      return fetch(...given);
    };
    const retrying = { maxRetries: 2, fetch: counted };
    for (const model of Object.keys(DEMO_AGENTS)) {
      const asked = [{ role: 'user' as const, content: 'Read note.txt' }];
      const openai = openaiClient(gateway.url, retrying);
      const refused = [
        anthropicClient(gateway.url, retrying).messages.create({ model, max_tokens: 100, messages: asked }),
        openai.chat.completions.create({ model, messages: asked }),
        openai.responses.create({ model, input: 'Read note.txt' }),
      ];
      for (const each of await Promise.allSettled(refused)) {
        expect(each).toMatchObject({
          status: 'rejected',
          reason: { status: 400, message: expect.stringContaining('Create the folder') },
        });
      }
    }
    expect(sent, 'none was sent again').toBe(6);

    await mkdir(join(gateway.folder, 'work'));
    await writeFile(join(gateway.folder, 'work', 'note.txt'), `${NOTE}\n`);
    for (const answer of await askEverywhere(gateway.url, 'coder', 'Read note.txt')) {
      expect(answer).toContain(NOTE);
    }
  });

  it('for a tool of its own with the name of a built-in says so at the start', async () => {
    const { path: folder } = await tempFolder('toolgate-first');
    await mkdir(join(folder, 'tools'));
    await writeFile(
      join(folder, 'tools', 'read.mjs'),
      "export const tool = { name: 'Read', description: 'a', call() {} };",
    );
    const config = {
      server: { port: 0 },
      models: { '*': { upstream: 'demo' } },
      tools: { paths: ['./tools'] },
    };
    const gateway = await startGatewayProcess({ folder, config });
    await gateway.printed(/Read is off\.\n {2}→ The name Read is taken by a built-in tool/);
  });
});
