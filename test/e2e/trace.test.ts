import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command } from '../../src/cli/trace.js';
import { captureIo } from '../support/captured-io.js';
import { startTestGateway } from '../support/gateway.js';
import { eventByEvent, json, sse, startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import {
  anthropicError,
  call,
  callAnswer,
  callsAnswer,
  chatStream,
  openaiError,
  textAnswer,
} from '../support/wire.js';
import { openChatWorld } from './console-chat-harness.js';
import { repository, startAgent } from './native-agent-harness.js';

const SECRET = 'sk-test-0123456789abcdef0123456789';

interface Asked {
  positionals?: string[];
  values?: Record<string, string>;
  full?: boolean;
}

/** The command, as it is run in the folder of a gateway. */
function traceIn(folder: string) {
  return async ({ positionals = [], values = {}, full = false }: Asked) => {
    const io = captureIo({ cwd: folder });
    const switches = new Set(full ? ['full'] : []);
    const config = existsSync(join(folder, 'toolgate.yaml')) ? { config: 'toolgate.yaml' } : {};
    const code = await command.run({ positionals, values: { ...config, ...values }, switches, rest: [] }, io);
    return { code, text: io.lines.join('\n'), errors: io.errors.join('\n') };
  };
}

async function recorded() {
  const upstream = await startUpstream([
    json(openaiError("Unknown parameter: 'stream_options'."), { status: 400 }),
    sse(eventByEvent(chatStream(callAnswer('Read', { file_path: '/tmp/x' })))),
    sse(eventByEvent(chatStream(textAnswer('Fertig: 北京')))),
  ]);
  const gateway = await startTestGateway({
    config: {
      upstreams: { up: { dialect: 'openai-chat', base_url: `${upstream.url}/v1`, api_key: SECRET } },
      models: { '*': { upstream: 'up', model: 'gpt-x' } },
    },
  });
  const client = anthropicClient(gateway.url);
  for (const content of ['read it', 'and now?']) {
    await client.messages
      .stream({
        model: 'claude-x',
        max_tokens: 100,
        messages: [{ role: 'user', content }],
        tools: [
          { name: 'Read', input_schema: { type: 'object', properties: { file_path: { type: 'string' } } } },
        ],
      })
      .finalMessage();
  }
  await gateway.close();
  const run = traceIn(gateway.folder);
  return { run, upstream, folder: gateway.folder };
}

/** Saves a request to a file and runs that. */
async function replayed(folder: string, id: string) {
  const run = traceIn(folder);
  expect((await run({ positionals: [id], values: { save: 'turn.json' } })).code).toBe(0);
  return { run, ...(await run({ values: { replay: 'turn.json' } })) };
}

describe('toolgate trace', () => {
  it('lists requests, shows one from inbound to emitted events, and replays it from one file', async () => {
    const { run, folder } = await recorded();
    const list = await run({});
    expect(list.code).toBe(0);
    const ids = [...list.text.matchAll(/req_\w+/g)].map(([id]) => id);
    expect(ids).toHaveLength(2);
    expect(list.text).toContain('claude-x → up');

    const first = ids[1] ?? '';
    const shown = await run({ positionals: [first], full: true });
    const order = [
      '── inbound  /v1/messages',
      '"read it"',
      '── outbound 1  up',
      'answered 400',
      '── outbound 2  up',
      'answered 200',
      "Unknown parameter: 'stream_options'.",
      '"tool_calls"',
      'content_block_start',
      'message_stop',
    ];
    let from = 0;
    for (const part of order) {
      const at = shown.text.indexOf(part, from);
      expect(at, `${part} after ${from}`).toBeGreaterThanOrEqual(from);
      from = at;
    }
    expect(shown.text).not.toContain(SECRET);

    const brief = await run({ positionals: [first] });
    expect(Math.max(...brief.text.split('\n').map((line) => line.length))).toBeLessThan(300);

    await run({ positionals: [ids[0] ?? ''], values: { save: 'one.json' } });
    const replayed = await run({ values: { replay: 'one.json' } });
    expect(replayed.text).toContain('outbound: differs at stream_options');
    expect(replayed.text).toContain('answer:   as recorded');
    expect(replayed.text).toContain('Fertig: 北京');

    const file = join(folder, 'one.json');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('Fertig', 'Fortig'));
    const other = await run({ values: { replay: 'one.json' } });
    expect(other.code).toBe(1);
  });

  it('reads again what the model of an agent said, and runs none of its tools', async () => {
    const repo = await repository({ a: 'a' });
    const { gateway } = await startAgent('openai-chat', repo.root, [
      callsAnswer(call('Bash', { command: 'echo x >> made', description: 'x' }, 'c1')),
      textAnswer('Made: 北京'),
    ]);
    const client = anthropicClient(gateway.url);
    const { response } = await client.messages
      .create({ model: 'coder', max_tokens: 100, messages: [{ role: 'user', content: 'make it' }] })
      .withResponse();
    await gateway.close();
    const { run, code, text } = await replayed(gateway.folder, response.headers.get('request-id') ?? '');
    expect(text.match(/^── request .*$/gm)).toEqual([
      '── request 1 of 2 to a model  scripted  openai-chat  answered 200',
      '── request 2 of 2 to a model  scripted  openai-chat  answered 200',
    ]);
    expect(text).toContain('call: Bash {"command":"echo x >> made","description":"x"}\nstop: tool_use;');
    expect(text).toContain('Made: 北京\nstop: end_turn;');
    expect(code).toBe(0);
    expect(await repo.read('made')).toBe('x\n');

    const file = join(gateway.folder, 'turn.json');
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('data: {', 'data: {{'));
    const broken = await run({ values: { replay: 'turn.json' } });
    expect(broken).toMatchObject({ code: 1, text: expect.stringContaining('error: ') });
  });

  it('reads again what the model of an agent said before its answer broke off', async () => {
    const repo = await repository({ a: 'a' });
    const whole = eventByEvent(chatStream(textAnswer('As far as here')));
    const said = whole.findIndex((event) => event.includes('As far as here'));
    const upstream = await startUpstream([sse(whole.slice(0, said + 1), { end: 'truncate' })]);
    const gateway = await startTestGateway({
      config: {
        upstreams: { scripted: upstream.config('openai-chat') },
        models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: repo.root } },
      },
    });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'coder', stream: true, messages: [{ role: 'user', content: 'go on' }] }),
    });
    expect(await response.text()).toContain('"error"');
    await gateway.close();
    const { run, code, text } = await replayed(gateway.folder, response.headers.get('x-request-id') ?? '');
    expect(text).toMatch(/answered 200\nAs far as here\nerror: \S/);
    expect(code).toBe(0);

    // The same bytes of a turn that did not fail then cannot be read any more.
    const file = join(gateway.folder, 'turn.json');
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), status: 200 }));
    expect(await run({ values: { replay: 'turn.json' } })).toMatchObject({ code: 1 });
  });

  it('reads again a turn of the console, and what the model refused', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(
      textAnswer('Hello.'),
      json(anthropicError('invalid_request_error', 'Not in the mood.'), { status: 400 }),
    );
    const { turn, session } = await alice.say({ content: 'hi' });
    const refused = await alice.say({ session, content: 'and now?' });
    await world.gateway.close();
    const hello = await replayed(world.gateway.folder, turn);
    expect(hello).toMatchObject({ code: 0, text: expect.stringContaining('Hello.\nstop: end_turn') });
    const mood = await replayed(world.gateway.folder, refused.turn);
    expect(mood).toMatchObject({ code: 0, text: expect.stringContaining('error: Not in the mood.') });
  });

  it('says why a file has nothing to replay', async () => {
    const { run, folder } = await recorded();
    const [id = ''] = /req_\w+/.exec((await run({})).text) ?? [];
    await run({ positionals: [id], values: { save: 'one.json' } });
    const file = join(folder, 'one.json');
    const saved: object = JSON.parse(await readFile(file, 'utf8'));
    for (const [change, why] of [
      [{ cut: true }, 'not whole'],
      [{ attempts: [] }, 'no upstream was asked.'],
      [{ attempts: [], session: 'ses_1' }, 'no upstream was asked over HTTP'],
    ] as const) {
      await writeFile(file, JSON.stringify({ ...saved, ...change }));
      const answer = await run({ values: { replay: 'one.json' } });
      expect(answer).toMatchObject({ code: 1, text: expect.stringContaining(why) });
    }
  });

  it('says what to do about a wrong id and a wrong file', async () => {
    const { run, folder } = await recorded();
    const unknown = await run({ positionals: ['req_nope'] });
    expect(unknown).toMatchObject({ code: 1, errors: expect.stringContaining('toolgate trace') });
    await writeFile(join(folder, 'bad.json'), '{}');
    await expect(run({ values: { replay: 'bad.json' } })).rejects.toThrow('not a recorded request');
    const [id = ''] = /req_\w+/.exec((await run({})).text) ?? [];
    await run({ positionals: [id], values: { save: 'one.json' } });
    const { inbound, attempts, ...saved } = JSON.parse(await readFile(join(folder, 'one.json'), 'utf8'));
    for (const [change, why] of [
      [{ attempts: [{ ...attempts[0], url: 'zz' }] }, 'not a recorded request: attempts.0.url'],
      [{ inbound: { ...inbound, body: '[' } }, 'what the client sent is no JSON'],
      [{ session: 'ses_1', attempts: [{ ...attempts[0], body: '{' }] }, 'what a model was sent is no JSON'],
    ] as const) {
      await writeFile(join(folder, 'bad.json'), JSON.stringify({ inbound, attempts, ...saved, ...change }));
      await expect(run({ values: { replay: 'bad.json' } })).rejects.toThrow(why);
    }
    await expect(run({ values: { save: 'x' } })).rejects.toThrow('needs the ID');
    expect(await run({ values: { replay: 'none.json' } })).toMatchObject({ code: 1 });
  });

  it('remembers what the first complaint taught', async () => {
    const { upstream } = await recorded();
    const sent = upstream.requests.map((request) =>
      Object.keys(request.json as object).includes('stream_options'),
    );
    expect(sent).toEqual([true, false, false]);
  });
});
