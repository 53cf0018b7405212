import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureIo } from '../../src/cli/test-io.js';
import { command } from '../../src/cli/trace.js';
import { startTestGateway } from '../support/gateway.js';
import { eventByEvent, json, sse, startUpstream } from '../support/scripted-upstream.js';
import { anthropicClient } from '../support/sdk.js';
import { callAnswer, chatStream, openaiError, textAnswer } from '../support/wire.js';

const SECRET = 'sk-test-0123456789abcdef0123456789';

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
  const run = async (args: { positionals?: string[]; values?: Record<string, string>; full?: boolean }) => {
    const io = captureIo({ cwd: gateway.folder });
    const code = await command.run(
      {
        positionals: args.positionals ?? [],
        values: args.values ?? {},
        switches: new Set(args.full ? ['full'] : []),
        rest: [],
      },
      io,
    );
    return { code, text: io.lines.join('\n'), errors: io.errors.join('\n') };
  };
  return { run, upstream, folder: gateway.folder };
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

  it('says what to do about a wrong id and a wrong file', async () => {
    const { run, folder } = await recorded();
    const unknown = await run({ positionals: ['req_nope'] });
    expect(unknown).toMatchObject({ code: 1, errors: expect.stringContaining('toolgate trace') });
    await writeFile(join(folder, 'bad.json'), '{}');
    await expect(run({ values: { replay: 'bad.json' } })).rejects.toThrow('not a recorded request');
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
