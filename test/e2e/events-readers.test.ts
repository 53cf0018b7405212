/** Readers of `GET /api/events`: who sees what, who comes back, who is too slow, who has to go. */
import { describe, expect, it } from 'vitest';
import { EventReader } from '../support/event-reader.js';
import { EventWorld, hasEnded, isChunk, isOfTurn } from '../support/event-world.js';
import { gate } from '../support/gate.js';
import { startTestGateway } from '../support/gateway.js';
import { openRaw, requestBytes } from '../support/raw-http.js';
import { inDialect } from '../support/scripted-answers.js';
import { PAGE } from '../support/sign-in-world.js';
import { until } from '../support/until.js';
import { call, callsAnswer, cut, textAnswer } from '../support/wire.js';
import { repository } from './native-agent-harness.js';

const STEPS = [
  callsAnswer(call('Read', { file_path: 'notes.txt' }, 'toolu_1')),
  textAnswer(['It is ', '42.']),
];

const files = { 'notes.txt': 'the answer is 42' };

describe('a reader that comes back', () => {
  it('is given what followed, from wherever it was cut off, nothing lost and nothing twice', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: STEPS });
    const first = await world.read();
    await world.say('What is it?');
    await first.until((event) => event.type === 'request');
    await first.until(
      (event) => event.type === 'session' && event.what === 'changed' && !event.session.running,
    );
    expect(first.gaps).toEqual([]);
    const { events } = first;
    const end = events.at(-1)?.id ?? '';
    for (const [index, { id }] of events.entries()) {
      if (id === end) break;
      const again = await world.read('alice', { lastId: id });
      await again.until((event) => event.id === end);
      again.close();
      const missed = events.slice(index + 1);
      expect(again.events.slice(0, missed.length)).toEqual(missed);
      expect(again.gaps).toEqual([]);
    }
    const none = await world.read('alice', { lastId: end });
    await world.api('DELETE', `/api/sessions/${first.of('turn')[0]?.session}`);
    await none.until((event) => event.type === 'session' && event.what === 'deleted');
    expect([none.events[0]?.prev, none.gaps]).toEqual([end, []]);
  });

  it('in the middle of a turn goes on with it, also by the query alone', async () => {
    const repo = await repository(files);
    const held = gate();
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        inDialect(textAnswer(['One, ', 'two, ', 'three.']), {
          pieces: (stream) => {
            const [head = '', tail = ''] = stream.split('event: content_block_stop');
            return [head, held, `event: content_block_stop${tail}`];
          },
        }),
      ],
    });
    const first = await world.read();
    const said = world.say('count');
    const text = await first.until((event) => event.type === 'text');
    first.close();
    await first.ended;
    held.open();
    await said;
    const response = await fetch(`${world.gateway.url}/api/events?last_event_id=${text.id}`, {
      headers: { authorization: 'Bearer k-alice' },
    });
    const body = response.body?.pipeThrough(new TextDecoderStream());
    let heard = '';
    for await (const piece of body ?? []) {
      heard += piece;
      if (heard.includes('"ended"')) break;
    }
    expect(heard).not.toContain('snapshot');
    expect(heard).not.toContain('"began"');
    expect(heard).toContain(`"prev":"${text.id}"`);
  });

  it.each([
    ['of another gateway', 'abcdef012345.3'],
    ['that is none', 'yesterday'],
    ['from the future', undefined],
  ])('with an id %s begins with a snapshot', async (_which, given) => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: STEPS });
    const first = await world.read();
    const snapshot = await first.until((event) => event.type === 'snapshot');
    const future = snapshot.id.replace(/\d+$/, '999');
    const reader = await world.read('alice', { lastId: given ?? future });
    expect(await reader.until(() => true)).toMatchObject({ type: 'snapshot', prev: null });
  });

  it('for whose place too much has happened begins with a snapshot', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: STEPS, limits: { ringEvents: 3 } });
    const first = await world.read();
    await world.say('What is it?');
    await first.until((event) => event.type === 'request');
    const [, early] = first.events;
    const late = await world.read('alice', { lastId: early?.id ?? '' });
    expect(await late.until(() => true)).toMatchObject({ type: 'snapshot', prev: null, turns: [] });
  });
});

describe('the readers of other keys', () => {
  it('see nothing of it, and their own row has no gaps; an administrator sees all', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({
      root: repo.root,
      steps: [...STEPS, textAnswer('For Bob.')],
    });
    const [alice, bob, root] = await Promise.all([world.read(), world.read('bob'), world.read('root')]);
    await world.say('What is it?');
    await alice.until(hasEnded);
    await world.say('And for me?', 'bob');
    await bob.until((event) => event.type === 'request');
    await root.until((event) => event.type === 'request' && JSON.stringify(event.trace).includes('"bob"'));
    const heardByBob = JSON.stringify(bob.events);
    expect(heardByBob).not.toContain('alice');
    expect(heardByBob).not.toContain('What is it?');
    expect(heardByBob).not.toContain(alice.of('turn')[0]?.session);
    expect(JSON.stringify(alice.events)).not.toContain('For Bob');
    const turns = new Set(root.events.filter(isOfTurn).map(({ turn }) => turn));
    expect(turns.size).toBe(2);
    for (const reader of [alice, bob, root]) expect(reader.gaps).toEqual([]);
  });
});

describe('rules and MCP servers', () => {
  it('are told to those who may list them', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: [] });
    const [bob, root] = await Promise.all([world.read('bob'), world.read('root')]);
    const rule = { rule: 'Bash(npm test)', behaviour: 'allow', scope: 'everywhere' };
    const added = await world.api('POST', '/api/rules', rule, 'root');
    expect(added.status).toBe(201);
    expect(await bob.until((event) => event.type === 'rule')).toMatchObject({
      what: 'added',
      rule: { rule: 'Bash(npm test)', scope: 'everywhere' },
    });
    const server = { name: 'missing', config: { type: 'stdio', command: '/nonexistent-program' } };
    await world.api('POST', '/api/mcp', server, 'root');
    expect(await bob.until((event) => event.type === 'mcp')).toMatchObject({ server: 'missing' });
    await root.until((event) => event.type === 'mcp' && event.state === 'failed');
  });
});

describe('a reader that reads nothing', () => {
  it('holds up nobody and is cut off; when it comes back it is told how things stand', async () => {
    const repo = await repository(files);
    const long = cut('All work and no play. '.repeat(300_000), 200_000);
    const world = await EventWorld.start({
      root: repo.root,
      steps: [textAnswer(long), textAnswer('And on.')],
      limits: { readerBytes: 64 * 1024 },
    });
    const { gateway } = world;
    const lazy = await openRaw(gateway.url);
    lazy.socket.pause();
    const headers = { authorization: 'Bearer k-alice' };
    lazy.socket.write(requestBytes(gateway.url, { path: '/api/events', headers }));
    const answer = await world.say('Write a lot');
    expect(answer).toContain('message_stop');
    // What it has in its buffers is all that it will get.
    lazy.socket.resume();
    await lazy.until(() => false);
    expect(lazy.ended).not.toBe('no');
    expect(lazy.received.includes('"ended"')).toBe(false);
    expect(await world.say('Go on')).toContain('And on.');
    const again = await world.read();
    expect(await again.until(() => true)).toMatchObject({ type: 'snapshot' });
  });
});

describe('a stream', () => {
  it('has the headers of one, and pings that are part of its row', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: [], limits: { pingMs: 20 } });
    const reader = await world.read();
    expect(reader.status).toBe(200);
    expect(reader.headers.get('content-type')).toContain('text/event-stream');
    expect(reader.headers.get('cache-control')).toBe('no-store');
    expect(reader.headers.get('x-accel-buffering')).toBe('no');
    const ping = await reader.until((event) => event.type === 'ping');
    const back = await world.read('alice', { lastId: ping.id });
    const next = await back.until((event) => event.type === 'ping');
    expect(next.prev).toBe(ping.id);
    expect([...reader.gaps, ...back.gaps]).toEqual([]);
  });

  it('ends when its browser signs out, and no other one does', async () => {
    const { url, consoleUrl } = await startTestGateway();
    const token = new URL(consoleUrl).hash.replace('#token=', '');
    const signIn = async (): Promise<string> => {
      const response = await fetch(`${url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...PAGE },
        body: JSON.stringify({ token }),
      });
      return (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    };
    const [here, there] = [await signIn(), await signIn()];
    const open = (cookie: string) => EventReader.open(url, { headers: { cookie, ...PAGE } });
    const [ending, staying] = [await open(here), await open(there)];
    await Promise.all([ending.until(() => true), staying.until(() => true)]);
    await fetch(`${url}/api/session`, { method: 'DELETE', headers: { cookie: here, ...PAGE } });
    await ending.ended;
    expect(staying.over).toBe(false);
    expect((await open(here)).status).toBe(401);
  });

  it('ends at once when the gateway stops, however long answers are given to finish', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({
      root: repo.root,
      steps: [],
      config: { server: { keys: [{ key: 'k-alice', name: 'alice', scopes: ['call'] }], drain_s: 3600 } },
    });
    const reader = await world.read();
    await reader.until(() => true);
    await world.gateway.close();
    await reader.ended;
  });

  it('is refused to one key alone when it has too many', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: [], limits: { readersOfKey: 2 } });
    const [first] = [await world.read(), await world.read()];
    const third = await world.api('GET', '/api/events');
    expect(third.status).toBe(429);
    expect(await third.text()).toContain('2 readers of events are connected with the key \\"alice\\"');
    expect((await world.read('bob')).status).toBe(200);
    first?.close();
    await first?.ended;
    await until(async () => (await world.read()).status === 200);
  });

  it('is refused without a key', async () => {
    const repo = await repository(files);
    const world = await EventWorld.start({ root: repo.root, steps: [] });
    expect((await EventReader.open(world.gateway.url)).status).toBe(401);
  });
});

describe('who reads without the scope to answer', () => {
  it('does not count as present', async () => {
    const repo = await repository(files);
    const made = callsAnswer(call('Bash', { command: 'touch made', description: 'x' }, 'toolu_1'));
    const world = await EventWorld.start({
      root: repo.root,
      steps: [made, textAnswer('Then not.')],
      permissions: { mode: 'ask', unattended: 'deny' },
    });
    const eve = await world.read('eve');
    await world.say('make it', 'eve');
    await eve.until(hasEnded);
    expect(eve.events.filter(isChunk).find(({ type }) => type === 'tool_result')).toMatchObject({
      outcome: 'unattended',
      because: 'nobody was connected who could answer',
    });
  });
});
