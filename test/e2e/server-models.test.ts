/** `/v1/models` in both shapes, and token counts. */
import { describe, expect, it } from 'vitest';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import { JSON_HEADERS, startServer, turnBytes } from './server-harness.js';

const ANTHROPIC = { 'anthropic-version': '2023-06-01' };
const get = async (path: string, headers: Record<string, string> = {}) => {
  const { url } = await startServer();
  return sendRaw(url, requestBytes(url, { path, headers }));
};

describe('the list of models', () => {
  it('has the shape of OpenAI', async () => {
    const { status, json } = await get('/v1/models?limit=1');
    expect(status).toBe(200);
    expect(json()).toEqual({
      object: 'list',
      data: [
        { id: 'gpt-5', object: 'model', created: 1_700_000_000, owned_by: 'openai' },
        {
          id: 'claude-x',
          object: 'model',
          created: 1_700_000_001,
          owned_by: 'claude',
          context_window: 200_000,
        },
        { id: 'org/local', object: 'model', created: 1_700_000_002, owned_by: 'local' },
      ],
    });
  });

  it('has the shape of Anthropic for clients that say its version', async () => {
    const { json } = await get('/v1/models?limit=1000', ANTHROPIC);
    expect(json()).toEqual({
      data: [
        { type: 'model', id: 'gpt-5', display_name: 'GPT-5', created_at: '2023-11-14T22:13:20Z' },
        {
          type: 'model',
          id: 'claude-x',
          display_name: 'Claude X',
          created_at: '2023-11-14T22:13:21Z',
          context_window: 200_000,
        },
        { type: 'model', id: 'org/local', display_name: 'Local', created_at: '2023-11-14T22:13:22Z' },
      ],
      has_more: false,
      first_id: 'gpt-5',
      last_id: 'org/local',
    });
  });

  it.each([
    ['limit=2', ['gpt-5', 'claude-x'], true],
    ['limit=2&after_id=gpt-5', ['claude-x', 'org/local'], false],
    ['limit=1&after_id=gpt-5', ['claude-x'], true],
    ['limit=1&before_id=org/local', ['claude-x'], true],
    ['before_id=claude-x', ['gpt-5'], false],
    ['after_id=org%2Flocal', [], false],
  ])('pages by %s', async (query, ids, hasMore) => {
    const { json } = await get(`/v1/models?${query}`, ANTHROPIC);
    const page = json() as { data: { id: string }[] };
    expect(page.data.map(({ id }) => id)).toEqual(ids);
    expect(page).toMatchObject({ has_more: hasMore, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  });

  it.each([
    ['limit=0', 'limit: expected a whole number from 1 to 1000.'],
    ['limit=1001', 'limit: expected a whole number from 1 to 1000.'],
    ['limit=x', 'limit: expected a whole number from 1 to 1000.'],
    ['after_id=nothing', 'after_id: there is no such model in the list.'],
    ['after_id=gpt-5&before_id=gpt-5', 'Give before_id or after_id, not both.'],
  ])('refuses %s', async (query, message) => {
    const { status, json } = await get(`/v1/models?${query}`, ANTHROPIC);
    expect(status).toBe(400);
    expect(json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error', message } });
  });

  it('is empty without a body for HEAD', async () => {
    const { url } = await startServer();
    const response = await sendRaw(url, requestBytes(url, { method: 'HEAD', path: '/v1/models' }));
    expect(response.status).toBe(200);
    expect(Number(response.headers['content-length'])).toBeGreaterThan(100);
    expect(response.body).toHaveLength(0);
  });
});

describe('one model', () => {
  it.each(['org/local', 'org%2Flocal'])('is found as %s', async (id) => {
    expect((await get(`/v1/models/${id}`)).json()).toMatchObject({ id: 'org/local', object: 'model' });
    expect((await get(`/v1/models/${id}`, ANTHROPIC)).json()).toMatchObject({
      id: 'org/local',
      type: 'model',
    });
  });

  it('that is not listed is a 404 in the shape of the client', async () => {
    expect(await get('/v1/models/nothing')).toMatchObject({ status: 404 });
    expect((await get('/v1/models/nothing')).json()).toMatchObject({ error: { code: 'model_not_found' } });
    expect((await get('/v1/models/nothing', ANTHROPIC)).json()).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error' },
    });
  });
});

describe('token counts', () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });

  it('are asked of the engine, without max_tokens', async () => {
    const { url, calls } = await startServer({ countTokens: async () => 1234 });
    const path = '/v1/messages/count_tokens?beta=true';
    const response = await sendRaw(url, requestBytes(url, { path, headers: JSON_HEADERS, body }));
    expect([response.status, response.text]).toEqual([200, '{"input_tokens":1234}']);
    expect(calls[0]?.request.model).toBe('m');
  });

  it('fail in the dialect', async () => {
    const { url } = await startServer();
    const request = requestBytes(url, {
      path: '/v1/messages/count_tokens',
      headers: JSON_HEADERS,
      body: '{}',
    });
    const response = await sendRaw(url, request);
    expect(response.status).toBe(400);
    expect(response.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });
});

describe('a turn', () => {
  it.each([
    ['/v1/messages', 'msg_'],
    ['/v1/messages?beta=true&x=1', 'msg_'],
    ['/v1/chat/completions', 'chatcmpl-'],
  ])('on %s answers with an id of its dialect', async (path, prefix) => {
    const { url } = await startServer();
    const response = await sendRaw(url, turnBytes(url, {}, path));
    expect(response.json()).toMatchObject({
      id: response.headers['request-id']?.replace('req_', prefix),
      model: 'm',
    });
  });
});
