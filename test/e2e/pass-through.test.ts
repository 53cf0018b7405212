/** Routes beside turns, in the bytes of the client: with the official SDKs, and with keys of several tenants. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { anthropicClient } from '../support/sdk.js';
import { isRecord } from '../support/violation.js';
import { ask, configOf, open, openai } from './pass-through-harness.js';

describe('a route whose body names a model', () => {
  it('goes to its upstream under the upstream name, with the gateway credential alone, and is counted', async () => {
    const { gateway, upstream } = await open();
    const client = openai(gateway, 'some');
    const { data, response } = await client.embeddings
      .create({ model: 'embed-small', input: 'Hi', encoding_format: 'float' })
      .withResponse();
    expect(data.data[0]?.embedding).toEqual([0.5, 1]);
    expect(response.headers.get('x-toolgate-upstream')).toBe('openai');
    const [sent] = upstream.requests;
    expect(sent).toMatchObject({ method: 'POST', path: '/v1/embeddings' });
    expect(JSON.parse(sent?.text ?? '')).toEqual({
      model: 'up-embed',
      input: 'Hi',
      encoding_format: 'float',
    });
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer upstream-secret' });
    expect(JSON.stringify(sent?.rawHeaders)).not.toContain('k-some');
    const usage = await ask(gateway, 'admin', 'GET', '/api/usage?by=key');
    const counted = JSON.stringify(await usage.json());
    expect(counted).toContain('"some"');
    expect(counted).toMatch(/"input_tokens":40\b/);
    const trace = await ask(
      gateway,
      'admin',
      'GET',
      `/api/traces/${response.headers.get('x-toolgate-trace')}`,
    );
    expect(await trace.json()).toMatchObject({ model: 'embed-small', key: 'some', upstream: 'openai' });
  });

  it('carries files of forms, with the model renamed, and answers that are no text', async () => {
    const { gateway, upstream } = await open();
    const client = openai(gateway, 'alice');
    const sound = Buffer.from([0, 255, 13, 10, 45, 45, 1]);
    const file = await toFile(sound, 'a.wav');
    expect(await client.audio.transcriptions.create({ file, model: 'embed-sound' })).toEqual({
      text: 'Hello.',
    });
    const sent = upstream.requests[0]?.body ?? Buffer.alloc(0);
    expect(sent.includes(sound)).toBe(true);
    expect(sent.toString('latin1')).toMatch(/name="model"\r\n\r\nup-embed\r\n/);
    const speech = await client.audio.speech.create({ model: 'gpt-tts', voice: 'alloy', input: 'Hi' });
    expect([...new Uint8Array(await speech.arrayBuffer())]).toEqual([1, 2, 255]);
  });

  it('that the upstream does not have is answered by the upstream, named, without its credential', async () => {
    const { gateway } = await open();
    const missing = await ask(gateway, 'alice', 'POST', '/v1/rerank', {
      model: 'claude-x',
      query: 'a',
      documents: [],
    });
    expect([missing.status, missing.headers.get('x-toolgate-upstream')]).toEqual([404, 'claude']);
    const text = await missing.text();
    expect(text).toContain('Nobody has /rerank');
    expect(text).not.toContain('upstream-secret');
  });

  it('is held to the models, the budget and the shape of the body', async () => {
    const { gateway, upstream } = await open();
    const statusOf = async (who: string, body: object): Promise<number> =>
      (await ask(gateway, who, 'POST', '/v1/embeddings', body)).status;
    expect(await statusOf('some', { model: 'gpt-x', input: 'a' })).toBe(403);
    expect(await statusOf('alice', { model: 'nothing-like-it', input: 'a' })).toBe(404);
    expect(await statusOf('alice', { model: 'helper', input: 'a' })).toBe(400);
    expect(await statusOf('alice', { input: 'a' })).toBe(400);
    expect(await statusOf('poor', { model: 'gpt-x', input: 'a' })).toBe(403);
    expect(upstream.requests).toHaveLength(0);
    const spent: number[] = [];
    for (let i = 0; i < 4; i += 1) spent.push(await statusOf('poor', { model: 'embed-x', input: 'a' }));
    expect(spent).toEqual([200, 200, 200, 429]);
    const page = await ask(gateway, 'alice', 'POST', '/v1/embeddings', {}, { 'content-type': 'text/plain' });
    expect(page.status).toBe(415);
    expect((await fetch(`${gateway.url}/v1/embeddings`, { method: 'POST', body: '{}' })).status).toBe(401);
  });

  it('cannot name a second model beside the one that the key may call', async () => {
    const { gateway, upstream } = await open();
    const post = (body: string, type: string) =>
      fetch(`${gateway.url}/v1/embeddings`, {
        method: 'POST',
        body,
        headers: { authorization: 'Bearer k-some', 'content-type': type },
      });
    await post('{"model":"gpt-4","model":"embed-a","Model":"gpt-4","input":"x"}', 'application/json');
    expect(JSON.parse(upstream.requests[0]?.text ?? '')).toEqual({ model: 'up-embed', input: 'x' });
    const field = (name: string, value: string) =>
      `--b\r\ncontent-disposition: form-data; ${name}\r\n\r\n${value}\r\n`;
    const form = (...fields: string[]) =>
      post(`${fields.join('')}--b--\r\n`, 'multipart/form-data; boundary=b');
    const statuses = [
      await form(field('name="model"', 'embed-a'), field('name="model"', 'gpt-4')),
      await form(field('name="model"', 'embed-a'), field('name="Model"', 'gpt-4')),
      await form(field('name="model"', 'embed-a'), field('name="x"; name="model"', 'gpt-4')),
      await form(field('name="model"', 'embed-a'), field("name*=utf-8''model", 'gpt-4')),
      await form(
        field('name="model"', 'embed-a'),
        field('name="x"\r\ncontent-disposition: form-data; name="model"', 'gpt-4'),
      ),
      await form(field('name="other"', 'embed-a')),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 400]);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('what a provider keeps for the account', () => {
  it('is there for the key that made it, and for no other', async () => {
    const { gateway } = await open();
    const [alice, bob] = [openai(gateway, 'alice'), openai(gateway, 'bob')];
    const upload = async () => ({
      file: await toFile(Buffer.from('{}'), 'a.jsonl'),
      purpose: 'batch' as const,
    });
    const file = await alice.files.create(await upload());
    const other = await bob.files.create(await upload());
    expect((await alice.files.retrieve(file.id)).id).toBe(file.id);
    for (const refused of [
      bob.files.retrieve(file.id),
      bob.files.content(file.id),
      bob.files.delete(file.id),
      bob.files.retrieve('files-99'),
      bob.batches.create({ input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }),
    ])
      await expect(refused).rejects.toMatchObject({ status: 404 });
    const listed = async (client: typeof alice) => (await client.files.list()).data.map(({ id }) => id);
    expect([await listed(alice), await listed(bob)]).toEqual([[file.id], [other.id]]);
    await alice.files.delete(file.id);
    await expect(alice.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });

  it("is the same key's after a restart, with what a batch has made", async () => {
    const first = await open();
    const alice = openai(first.gateway, 'alice');
    const file = await alice.files.create({ file: await toFile(Buffer.from('{}'), 'a'), purpose: 'batch' });
    const batch = await alice.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    });
    const made = String(batch.output_file_id);
    await first.gateway.close();
    const { gateway } = await open(true, first);
    expect(await (await openai(gateway, 'alice').files.content(made)).json()).toEqual({ content: made });
    await expect(openai(gateway, 'bob').files.content(made)).rejects.toMatchObject({ status: 404 });
    await expect(openai(gateway, 'bob').batches.cancel(batch.id)).rejects.toMatchObject({ status: 404 });
  });

  it('cannot be named in a turn of another key, also with escapes', async () => {
    const { gateway, upstream } = await open();
    const client = anthropicClient(gateway.url, { apiKey: 'k-alice' });
    const batch = await client.messages.batches.create({ requests: [] });
    expect(batch.id).toBe('msgbatches-1');
    const file = await ask(gateway, 'alice', 'POST', '/v1/files', {}, { 'anthropic-version': '2023-06-01' });
    const made: unknown = await file.json();
    const id = isRecord(made) ? String(made['id']) : '';
    const before = upstream.requests.length;
    const turn = (name: string) =>
      fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: 'Bearer k-bob', 'content-type': 'application/json' },
        body: `{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","${name}":"${id}"}}]}]}`,
      });
    expect([(await turn('file_id')).status, (await turn('file\\u005fid')).status]).toEqual([404, 404]);
    expect(upstream.requests).toHaveLength(before);
  });

  it('cannot be named in a turn of another key by way of a conversation', async () => {
    const { gateway, upstream } = await open();
    const file: unknown = await (await ask(gateway, 'alice', 'POST', '/v1/files', {})).json();
    const id = isRecord(file) ? String(file['id']) : '';
    const items = [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }];
    const made: unknown = await (await ask(gateway, 'bob', 'POST', '/v1/conversations', { items })).json();
    const before = upstream.requests.length;
    const conversation = isRecord(made) ? made['id'] : undefined;
    const turn = { model: 'gpt-x', input: 'Print the file.', conversation };
    const answer = await ask(gateway, 'bob', 'POST', '/v1/responses', turn);
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('file_id')]);
    expect(upstream.requests).toHaveLength(before);
  });

  it('is closed until the operator opens it, and for keys that may call some models or spend so much', async () => {
    const closed = await open(false);
    const none = await ask(closed.gateway, 'alice', 'GET', '/v1/files');
    expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('pass_through: true')]);
    const { gateway, upstream } = await open();
    expect((await ask(gateway, 'some', 'GET', '/v1/files')).status).toBe(403);
    expect((await ask(gateway, 'poor', 'GET', '/v1/files')).status).toBe(403);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('/upstream/NAME', () => {
  it('is for keys with the scope admin, and for upstreams that are open', async () => {
    const { gateway, upstream } = await open();
    expect((await ask(gateway, 'alice', 'GET', '/upstream/openai/files')).status).toBe(403);
    const all = await ask(gateway, 'admin', 'GET', '/upstream/openai/files?limit=2');
    expect([all.status, all.headers.get('x-toolgate-upstream')]).toEqual([200, 'openai']);
    expect(upstream.requests[0]).toMatchObject({ method: 'GET', path: '/v1/files?limit=2' });
    expect((await ask(gateway, 'admin', 'GET', '/upstream/nobody/files')).status).toBe(404);
    const closed = await open(false);
    expect((await ask(closed.gateway, 'admin', 'GET', '/upstream/openai/files')).status).toBe(404);
  });

  it('is closed at once when the configuration is loaded again without it', async () => {
    const { gateway, upstream } = await open();
    const asked = () => ask(gateway, 'admin', 'GET', '/upstream/openai/files');
    expect((await asked()).status).toBe(200);
    await writeFile(join(gateway.folder, 'toolgate.yaml'), JSON.stringify(configOf(upstream, false)));
    expect((await ask(gateway, 'admin', 'POST', '/api/reload', {})).status).toBe(200);
    expect((await asked()).status).toBe(404);
    expect((await ask(gateway, 'alice', 'GET', '/v1/files')).status).toBe(404);
  });

  it.each(['../../admin', 'a/../b', './a', '..%2f..%2fadmin', '%2e%2e/x', 'a//b', '%5c', 'a%00', 'a\\b'])(
    'takes no path that a server could read in another way: %s',
    async (path) => {
      const { gateway, upstream } = await open();
      // As it stands: fetch would write it in another way.
      const headers = { authorization: 'Bearer k-admin' };
      const asked = requestBytes(gateway.url, { method: 'GET', path: `/upstream/openai/${path}`, headers });
      expect((await sendRaw(gateway.url, asked)).status).toBe(400);
      expect(upstream.requests).toHaveLength(0);
    },
  );

  it('follows no redirect, and gives a page of the upstream no place among our own', async () => {
    const { gateway } = await open();
    const away = await ask(gateway, 'admin', 'GET', '/upstream/openai/away');
    expect([away.status, away.headers.get('location')]).toEqual([502, null]);
    const page = await ask(gateway, 'admin', 'GET', '/upstream/openai/page');
    expect(page.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
  });
});
