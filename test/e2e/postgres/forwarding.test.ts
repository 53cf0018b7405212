/** Requests that come to another node than the one that has their session. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bash, HeldStep, lookup, says, words } from '../../faults/agent-script.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { api, ask, begin, KEYS, SECRET, said, startNodes, textIn, user, whole } from './nodes-harness.js';

let server: TestPostgres;
let database = '';
let store = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  database = await server.create();
  store = server.url(database);
});

const FINAL = 'All of it was said once.';
/** As the SDKs say that they have sent it before. */
const AGAIN = { 'x-stainless-retry-count': '1' };
const forwards = (seen: string) => seen.split('x-toolgate-forward:').length - 1;

describe('a turn that runs on another node', () => {
  it('is joined by a repeat of its request, which streams from there', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    const turn = model.play('Once.', [held.held]);
    const first = await begin(a, [user('Once.')]);
    await held.gate.reached;
    const second = await begin(b, [user('Once.')], { headers: AGAIN });
    // The head is there and the model is still held: it is no answer that was waited for.
    expect(second.headers.get('x-toolgate-node')).toBe('a');
    expect(second.headers.get('x-session-id')).toBe(first.headers.get('x-session-id'));
    held.gate.open();
    const [here, there] = await Promise.all([whole(first), whole(second)]);
    expect(textIn(here.text)).toBe(FINAL);
    expect(textIn(there.text)).toBe(FINAL);
    expect(turn.requests).toHaveLength(1);
    expect(a.wire.seen).toContain('x-toolgate-forward:');
    for (const key of Object.values(KEYS)) expect(a.wire.seen).not.toContain(key);
    expect(a.wire.seen).not.toContain(SECRET);
  });

  it('is shared under its Idempotency-Key, also as a whole answer', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    const turn = model.play('Keyed.', [held.held]);
    const headers = { 'idempotency-key': 'k-1' };
    const first = await begin(a, [user('Keyed.')], { headers });
    await held.gate.reached;
    const second = begin(b, [user('Keyed.')], { headers, stream: false });
    await until(() => forwards(a.wire.seen) > 0);
    held.gate.open();
    expect(textIn((await whole(first)).text)).toBe(FINAL);
    expect((await whole(await second)).text).toContain(FINAL);
    expect((await ask(b, [user('Keyed.')], { headers, stream: false })).text).toContain(FINAL);
    expect(turn.requests).toHaveLength(1);
  });

  it('is busy for other words, in the words of the dialect', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Busy.', [held.held]);
    const first = await begin(a, [user('Busy.')]);
    await held.gate.reached;
    const session = { 'x-session-id': first.headers.get('x-session-id') ?? '' };
    const other = await ask(b, [user('Something else.')], { headers: session });
    expect(other.status).toBe(409);
    expect(JSON.parse(other.text)).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
    expect(other.text).toContain('is being answered');
    const anothers = await ask(b, [user('Whose?')], { headers: session, key: 'calm' });
    expect(anothers.status).toBe(404);
    held.gate.open();
    await whole(first);
  });

  it('is stopped and talked to from there, and is shown as running', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Stop me.', [held.held]);
    const first = await begin(a, [user('Stop me.')]);
    await held.gate.reached;
    const id = first.headers.get('x-session-id') ?? '';
    expect(JSON.parse((await api(b, 'GET', `/api/sessions/${id}`)).text)).toMatchObject({ running: true });
    const queued = await api(b, 'POST', `/api/sessions/${id}/messages`, { body: { content: 'Later.' } });
    expect(queued).toMatchObject({ status: 202 });
    expect(JSON.parse((await api(a, 'GET', `/api/sessions/${id}/messages`)).text).data).toHaveLength(1);
    expect(JSON.parse((await api(b, 'GET', `/api/sessions/${id}/messages`)).text).data).toHaveLength(1);
    expect((await api(b, 'POST', `/api/sessions/${id}/stop`, { key: 'calm' })).status).toBe(404);
    const stopped = await api(b, 'POST', `/api/sessions/${id}/stop`);
    expect(JSON.parse(stopped.text)).toMatchObject({ stopped: true, withdrawn: [{ mode: 'queue' }] });
    expect((await whole(first)).text).toContain('was stopped by storm');
    held.gate.open();
  });

  it('goes on when its question is answered on another node', async () => {
    const permissions = { mode: 'ask', unattended: 'wait' };
    const { a, b, model, linesOf } = await startNodes(store, { shares: true, permissions });
    model.play('Ask.', [says('', bash('ask_x', 'echo ran >> ask.txt')), words(FINAL)]);
    const first = begin(a, [user('Ask.')]).then(whole);
    const waiting = await until(async () => {
      const { data } = JSON.parse((await api(b, 'GET', '/api/approvals?state=pending')).text);
      return data[0];
    });
    const { id, digest } = waiting;
    expect(
      await api(b, 'POST', `/api/approvals/${id}`, { body: { decision: 'allow', digest } }),
    ).toMatchObject({
      status: 200,
    });
    expect(textIn((await first).text)).toBe(FINAL);
    expect(await linesOf('ask.txt')).toEqual(['ran']);
  });

  it('ends with an error of the dialect where its node is lost in the middle', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Lost.', [held.steps]);
    const own = new AbortController();
    const first = await begin(a, [user('Lost.')], { signal: own.signal });
    await held.gate.reached;
    const second = await begin(b, [user('Lost.')], { headers: AGAIN });
    const reading = whole(second);
    a.wire.cut();
    const { text } = await reading;
    expect(text).toMatch(/event: error\ndata: .*The node a was answering this request and is gone/);
    held.gate.open();
    expect(textIn((await whole(first)).text)).toBe(FINAL);
  });

  it('is waited for where its node cannot be reached, and its answer given from the store', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    const turn = model.play('Away.', [says('', lookup('away_1')), held.held]);
    const call = { type: 'tool_use', id: 'away_1', name: 'lookup', input: { word: 'away_1' } };
    await ask(a, [user('Away.')]);
    const results = [
      user('Away.'),
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'away_1', content: 'found' }] },
    ];
    const first = await begin(a, results);
    await held.gate.reached;
    a.wire.cut();
    const second = ask(b, results, { headers: AGAIN });
    held.gate.open();
    expect(textIn((await whole(first)).text)).toBe(FINAL);
    expect(textIn((await second).text)).toBe(FINAL);
    expect(turn.requests).toHaveLength(2);
  });

  it('ends there when its only reader leaves here', async () => {
    const { a, b, model } = await startNodes(store);
    model.play('First.', [words('One.')]);
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Leave.', [held.steps]);
    const first = await ask(a, [user('First.')]);
    const reader = new AbortController();
    const history = [user('First.'), said('One.'), user('Leave.')];
    const second = await begin(b, history, { signal: reader.signal });
    await held.gate.reached;
    expect(second.headers.get('x-toolgate-node')).toBe('a');
    reader.abort();
    const id = first.headers.get('x-session-id') ?? '';
    await until(async () => !JSON.parse((await api(a, 'GET', `/api/sessions/${id}`)).text).running);
    held.gate.open();
  });
});

describe('the folder of a session', () => {
  it('that nodes do not share keeps it on its node, whichever is asked', async () => {
    const { a, b, model, linesOf } = await startNodes(store);
    model.play('Start.', [words('Begun.')]);
    model.play('Go on.', [says('', bash('go_x', 'echo ran >> go.txt')), words(FINAL)]);
    const first = await ask(a, [user('Start.')]);
    const second = await ask(b, [user('Start.'), said('Begun.'), user('Go on.')]);
    expect(textIn(second.text)).toBe(FINAL);
    expect(second.headers.get('x-toolgate-node')).toBe('a');
    expect(second.headers.get('x-session-id')).toBe(first.headers.get('x-session-id'));
    expect(await linesOf('go.txt')).toEqual(['ran']);
  });

  it('that nodes do not share is named with its node where that is gone', async () => {
    const { a, b, model } = await startNodes(store);
    model.play('Start.', [words('Begun.')]);
    await ask(a, [user('Start.')]);
    await a.gateway.close();
    const second = await ask(b, [user('Start.'), said('Begun.'), user('Go on.')]);
    expect(second.status).toBe(503);
    expect(second.headers.get('retry-after')).toBe('5');
    expect(JSON.parse(second.text).error.message).toMatch(
      /works in the folder .*work of the node a, which this node does not share\. Start a again.*cluster\.workspaces/,
    );
  });

  it('that nodes share lets any of them go on', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    model.play('Start.', [words('Begun.')]);
    model.play('Go on.', [words(FINAL)]);
    const first = await ask(a, [user('Start.')]);
    await a.gateway.close();
    const second = await ask(b, [user('Start.'), said('Begun.'), user('Go on.')]);
    expect(textIn(second.text)).toBe(FINAL);
    expect(second.headers.get('x-session-id')).toBe(first.headers.get('x-session-id'));
    expect(second.headers.get('x-toolgate-node')).toBeNull();
  });
});

describe('a node that drains', () => {
  it('leaves what waits for its client to the others at once, while a turn still runs on it', async () => {
    const { a, b, model } = await startNodes(store, { shares: true, drain: 60 });
    model.play('Parked.', [says('', lookup('parked_1')), words(FINAL)]);
    const held = new HeldStep(words('It was finished.'), 'half');
    model.play('Running.', [held.held]);
    const parked = await ask(a, [user('Parked.')]);
    const headers = { 'idempotency-key': 'k-drain' };
    const running = await begin(a, [user('Running.')], { headers });
    await held.gate.reached;
    const closing = a.gateway.close();
    await until(async () => (await fetch(`${a.gateway.url}/readyz`)).status === 503);
    const call = { type: 'tool_use', id: 'parked_1', name: 'lookup', input: { word: 'parked_1' } };
    const result = { type: 'tool_result', tool_use_id: 'parked_1', content: 'found' };
    const history = [
      user('Parked.'),
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    const results = await ask(b, history);
    expect(textIn(results.text)).toBe(FINAL);
    expect(results.headers.get('x-session-id')).toBe(parked.headers.get('x-session-id'));
    expect(results.headers.get('x-toolgate-node')).toBeNull();
    // What asks for the turn that runs there waits for its end.
    const again = ask(b, [user('Running.')], { headers });
    await until(() => forwards(a.wire.seen) > 0);
    held.gate.open();
    expect(textIn((await whole(running)).text)).toBe('It was finished.');
    await closing;
    expect(textIn((await again).text)).toBe('It was finished.');
  });
});

describe('an answer in the background', () => {
  it('is shown, streamed and cancelled from another node', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    const held = new HeldStep(words(FINAL), 'half');
    model.play('Behind.', [held.held]);
    const body = { model: 'agent', input: 'Behind.', background: true, stream: false };
    const { id } = JSON.parse((await api(a, 'POST', '/v1/responses', { body })).text);
    await held.gate.reached;
    const shown = await api(b, 'GET', `/v1/responses/${id}`);
    expect(JSON.parse(shown.text)).toMatchObject({ id, status: 'in_progress' });
    expect(shown.headers.get('x-toolgate-node')).toBe('a');
    expect((await api(b, 'GET', `/v1/responses/${id}`, { key: 'calm' })).status).toBe(404);
    const cancelled = await api(b, 'POST', `/v1/responses/${id}/cancel`, { body: {} });
    expect(JSON.parse(cancelled.text)).toMatchObject({ id, status: 'cancelled' });
    held.gate.open();
  });
});
