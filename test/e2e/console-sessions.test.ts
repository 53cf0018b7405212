/** What the console is told of sessions, models and folders, and turns that a restart interrupts. */
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FoldersWire, ModelWire, SessionWire } from '../../src/server/console-api/wire/sessions.js';
import { Database } from '../../src/store/sqlite/database.js';
import { hang } from '../support/scripted-upstream.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { type ChatWorld, openChatWorld, type Person, textsOf } from './console-chat-harness.js';

/** Resolves when the model has been asked for all that is scripted. Each look is a request of its own. */
async function asked(world: ChatWorld, session: string): Promise<void> {
  while (world.steps.length > 0) await world.person('alice').session(session);
}

describe('a folder for an agent', () => {
  it('is inside of the folder of the model, and is where it works from then on', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const cwd = join(world.root, 'inner');
    world.steps.push(
      callsAnswer(call('Bash', { command: 'pwd', description: 'x' }, 'c1')),
      textAnswer('There.'),
      textAnswer('Still.'),
      textAnswer('Back.'),
    );
    const { session } = await alice.say({ model: 'coder', content: 'where', cwd });
    const { body } = await alice.session(session);
    expect(body).toMatchObject({ root: cwd });
    expect(JSON.stringify(body.messages)).toContain(cwd);
    const on = await alice.say({ model: 'second', session, content: 'and now' });
    expect(on).toMatchObject({ session, how: 'continue' });
    const elsewhere = await alice.say({ model: 'coder', session, content: 'up', cwd: world.root });
    expect(elsewhere.how).toBe('import');
    expect((await alice.session(elsewhere.session)).body).toMatchObject({
      root: world.root,
      parent: session,
    });
  });

  it('is refused where it is not theirs to choose, is not there, or leads out', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const outside = join(dirname(world.root), 'outside');
    await mkdir(outside);
    await symlink(outside, join(world.root, 'inner', 'link'));
    const cases = [
      [outside, 403, 'ask an administrator'],
      [join(world.root, 'inner', 'link'), 400, 'no folder that can be opened'],
      [join(world.root, 'nothing'), 400, 'no folder that can be opened'],
      ['inner', 400, 'a whole path'],
    ] as const;
    for (const [cwd, status, message] of cases) {
      const refused = await alice.chat({ model: 'coder', content: 'x', cwd });
      expect(refused, cwd).toMatchObject({
        status,
        body: { error: { param: 'cwd', message: expect.stringContaining(message) } },
      });
    }
    expect(await alice.chat({ model: 'plain', content: 'x', cwd: world.root })).toMatchObject({
      status: 400,
    });
    expect(await alice.sessions()).toEqual([]);
    world.steps.push(textAnswer('Anywhere.'));
    const root = world.person('root');
    const { session } = await root.say({ model: 'coder', content: 'x', cwd: outside });
    expect((await root.session(session)).body).toMatchObject({ root: outside });
  });

  it('is found by looking around, without hidden ones, links and what is outside', async () => {
    const world = await openChatWorld();
    await symlink(dirname(world.root), join(world.root, 'out'));
    const look = (who: 'alice' | 'bob' | 'root', path = '') =>
      world.person(who).call<FoldersWire>('GET', `/api/folders?path=${encodeURIComponent(path)}`);
    expect(await look('alice')).toMatchObject({
      status: 200,
      body: {
        path: world.root,
        parent: null,
        folders: [{ name: 'inner', path: join(world.root, 'inner') }],
        roots: [world.root],
      },
    });
    expect((await look('alice', join(world.root, 'inner'))).body).toMatchObject({
      parent: world.root,
      folders: [{ name: 'deep' }],
    });
    for (const path of [dirname(world.root), '/', join(world.root, 'out'), `${world.root}/..`, 'inner']) {
      expect((await look('alice', path)).status, path).toBe(404);
    }
    expect((await look('bob')).status).toBe(404);
    expect((await look('root', '/')).body).toMatchObject({ path: '/', parent: null });
    expect((await look('root', world.root)).body.parent).toBe(dirname(world.root));
  });
});

describe('the models', () => {
  it('are those that the key may call', async () => {
    const world = await openChatWorld();
    const list = async (who: 'alice' | 'bob') =>
      (await world.person(who).call<{ data: ModelWire[] }>('GET', '/api/models')).body.data;
    expect((await list('alice')).map(({ name, pattern, engine }) => [name, pattern, engine])).toEqual([
      ['plain', false, 'relay'],
      ['coder', false, 'native'],
      ['second', false, 'native'],
      ['other-*', true, 'relay'],
    ]);
    expect(await list('bob')).toEqual([
      {
        ...{ name: 'plain', pattern: false, engine: 'relay', display_name: null, upstreams: ['scripted'] },
        ...{ root: null, context_window: null, priced: true, modes: [], configured_mode: 'allow' },
      },
    ]);
  });
});

describe('a long conversation', () => {
  it('is read page by page, the newest first', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('a0'));
    const { session } = await alice.say({ content: 'u0' });
    for (const turn of [1, 2, 3]) {
      world.steps.push(textAnswer(`a${turn}`));
      await alice.say({ session, content: `u${turn}` });
    }
    const newest = (await alice.session(session, '?limit=3')).body;
    expect(newest.total).toBe(8);
    expect(newest.messages.map(({ index, turn }) => [index, turn])).toEqual([
      [5, 2],
      [6, 3],
      [7, 3],
    ]);
    const before = (await alice.session(session, '?limit=3&before=5')).body;
    expect(textsOf(before)).toEqual(['user: u1', 'assistant: a1', 'user: u2']);
    const first = (await alice.session(session, '?limit=3&before=2')).body;
    expect(first.messages.map(({ index }) => index)).toEqual([0, 1]);
    expect((await alice.session(session, '?limit=1001')).status).toBe(400);
    expect((await alice.session(session, '?before=x')).status).toBe(400);
  });
});

interface SessionPage {
  data: SessionWire[];
  next: string | null;
}

async function list(person: Person, query: Record<string, string>): Promise<SessionPage> {
  const { status, body } = await person.call<SessionPage>(
    'GET',
    `/api/sessions?${new URLSearchParams(query)}`,
  );
  expect(status, JSON.stringify(query)).toBe(200);
  return body;
}

const idsOf = async (person: Person, query: Record<string, string>): Promise<string[]> =>
  (await list(person, query)).data.map(({ id }) => id);

describe('a search', () => {
  it('finds what was said in the own sessions, shows where, and finds nothing of one that is deleted', async () => {
    const world = await openChatWorld();
    const [alice, bob, root] = [world.person('alice'), world.person('bob'), world.person('root')];
    world.steps.push(
      callsAnswer(call('Bash', { command: 'echo heron', description: 'x' }, 'c1')),
      textAnswer('明天的天气预报：Sunny.'),
      textAnswer('A kingfisher.'),
    );
    const { session } = await alice.say({ model: 'coder', content: 'look outside' });
    const other = await bob.say({ content: 'which bird' });
    for (const word of ['heron', 'bash', '天气', 'sunny', 'OUTSIDE heron', '天气预报：S']) {
      expect(await idsOf(alice, { search: word }), word).toEqual([session]);
    }
    const [found] = (await list(alice, { search: 'SUNNY' })).data;
    const { text, from, to } = found?.match ?? { text: '', from: 0, to: 0 };
    expect([text, text.slice(from, to)]).toEqual(['明天的天气预报：Sunny.', 'Sunny']);
    expect((await list(alice, { search: 'outside' })).data[0]).not.toHaveProperty('match');
    expect(await idsOf(alice, { search: 'kingfisher' })).toEqual([]);
    expect(await idsOf(alice, { search: 'kingfisher', key: 'bob' })).toEqual([]);
    expect(await idsOf(root, { search: 'kingfisher' })).toEqual([other.session]);

    const { body: forked } = await alice.call<SessionWire>('POST', `/api/sessions/${session}/fork`);
    expect(await idsOf(alice, { search: 'heron' })).toEqual([forked.id, session]);
    expect((await alice.fetch('DELETE', `/api/sessions/${session}`)).status).toBe(204);
    expect(await idsOf(alice, { search: 'heron' })).toEqual([forked.id]);
  });

  it('takes a query for plain text', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('It is 100% "done" AND dusted.'));
    const { session } = await alice.say({ content: 'hi' });
    for (const word of ['100%', '"done"', '%', 'AND', '"done" and']) {
      expect(await idsOf(alice, { search: word }), word).toEqual([session]);
    }
    const strange = ['10%0', 'd%d', '*', '"dusted" OR hi', 'NEAR(', "';--", '\\', '^', '\0', '\u202e', '🙂'];
    for (const word of strange) expect(await idsOf(alice, { search: word }), word).toEqual([]);
    expect(await idsOf(alice, { search: '"' })).toEqual([session]);
    expect(await idsOf(alice, { search: '  ' })).toEqual([session]);
  });
});

describe('searches of one key', () => {
  it('are two at once; a third is refused, and nobody else is', async () => {
    const world = await openChatWorld();
    const [alice, bob] = [world.person('alice'), world.person('bob')];
    world.steps.push(textAnswer('A heron.'));
    const { session } = await alice.say({ content: 'which bird' });
    // As an older version left it, so that a search has to write, and waits for whoever does.
    const path = join(world.gateway.folder, '.toolgate', 'toolgate.db');
    const other = await Database.open({ path, memory: false, lockWaitMs: 5000 });
    await other.write(() => other.exec('DELETE FROM spoken; DELETE FROM spoken_up_to'));
    other.exec('BEGIN IMMEDIATE');
    const answers = [1, 2, 3].map(() => alice.call<SessionPage>('GET', '/api/sessions?search=heron'));
    expect(await Promise.race(answers)).toMatchObject({
      status: 429,
      body: { error: { type: 'rate_limited', param: 'search' } },
    });
    expect(await idsOf(bob, { search: 'heron' })).toEqual([]);
    expect(await idsOf(alice, {})).toEqual([session]);
    other.exec('ROLLBACK');
    other.close();
    const found = (await Promise.all(answers)).filter(({ status }) => status === 200);
    expect(found.map(({ body }) => body.data.map(({ id }) => id))).toEqual([[session], [session]]);
  });
});

describe('the list of one status', () => {
  it('has the sessions that are in it, page by page', async () => {
    const world = await openChatWorld({ rest: { permissions: { mode: 'ask', unattended: 'wait' } } });
    const alice = world.person('alice');
    const idle: string[] = [];
    for (const turn of ['one', 'two', 'three']) {
      world.steps.push(textAnswer(turn));
      idle.unshift((await alice.say({ content: turn })).session);
    }
    world.steps.push(callsAnswer(call('Bash', { command: 'touch a', description: 'x' }, 'c1')));
    const waiting = (await alice.chat({ model: 'coder', content: 'touch it' })).body.session;
    await alice.question();
    world.steps.push(hang());
    const running = (await alice.chat({ content: 'for long' })).body.session;
    await asked(world, running);
    const tools = [{ name: 'lookup', input_schema: { type: 'object' } }];
    world.steps.push(callsAnswer(call('lookup', { city: 'Bern' }, 'c2')));
    const messages = [{ role: 'user', content: 'where' }];
    const client = await alice.fetch('POST', '/v1/messages', {
      model: 'coder',
      max_tokens: 9,
      messages,
      tools,
    });
    const parked = client.headers.get('x-session-id');
    await client.text();

    expect(await idsOf(alice, { status: 'waiting' })).toEqual([waiting]);
    expect(await idsOf(alice, { status: 'running' })).toEqual([running]);
    expect(await idsOf(alice, { status: 'client' })).toEqual([parked]);
    expect(await idsOf(alice, { status: 'interrupted' })).toEqual([]);
    expect(await idsOf(alice, { status: 'idle' })).toEqual(idle);
    expect(await idsOf(alice, { status: 'idle', search: 'two' })).toEqual([idle[1]]);
    expect(await idsOf(alice, { status: 'waiting', state: 'parked' })).toEqual([]);
    expect(await idsOf(world.person('bob'), { status: 'idle' })).toEqual([]);
    // The newest are in other states: a page is full all the same, and the next one goes on behind it.
    const first = await list(alice, { status: 'idle', limit: '2' });
    expect(first.data.map(({ id }) => id)).toEqual(idle.slice(0, 2));
    const second = await list(alice, { status: 'idle', limit: '2', cursor: first.next ?? '' });
    expect(second).toMatchObject({ data: [{ id: idle[2] }], next: null });
    const wrong = await alice.call('GET', '/api/sessions?status=asleep');
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'status' } } });
  });
});

describe('a gateway that stops in the middle of a turn', () => {
  it('tells what can be resumed here from what only its client can go on with', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const ask = (...messages: object[]) =>
      alice.fetch('POST', '/v1/messages', { model: 'coder', max_tokens: 9, messages });
    const hi = { role: 'user', content: 'of a client' };
    world.steps.push(textAnswer('Hello.'));
    await (await ask(hi)).text();
    world.steps.push(hang());
    const busy = ask(hi, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'go on' });
    while (world.steps.length > 0) await alice.sessions();
    await world.restart();
    await busy.then((answer) => answer.text()).catch(() => undefined);
    const [session] = await alice.sessions();
    expect(session).toMatchObject({ running: false, interrupted: true, resumable: false });
    expect(await idsOf(alice, { status: 'interrupted' })).toEqual([session?.id]);
    expect(await idsOf(alice, { status: 'idle' })).toEqual([]);
    const refused = await alice.call('POST', `/api/sessions/${session?.id}/resume`);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'nothing_to_resume' } } });
  });

  it('goes on when it is back: a plain model is asked again', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(hang());
    const { body } = await alice.chat({ content: 'hi' });
    await asked(world, body.session);
    world.steps.push(textAnswer('After all.'));
    await world.restart();
    await alice.over(body.session);
    expect(await alice.texts(body.session)).toEqual(['user: hi', 'assistant: After all.']);
  });

  it('does not run again what was running', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(
      callsAnswer(call('Bash', { command: 'echo once >> lines; sleep 300', description: 'x' }, 'c1')),
      textAnswer('Looked.'),
    );
    const { body } = await alice.chat({ model: 'coder', content: 'run' });
    const lines = () => readFile(join(world.root, 'lines'), 'utf8').catch(() => '');
    for (;;) if ((await lines()) !== '') break;
    await world.restart();
    await alice.over(body.session);
    expect(await lines()).toBe('once\n');
    expect((await alice.texts(body.session)).at(-1)).toBe('assistant: Looked.');
  });

  it('tries three times, and leaves the rest to a person', { timeout: 40_000 }, async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(hang());
    const { body } = await alice.chat({ content: 'hi' });
    await asked(world, body.session);
    for (const _ of [2, 3]) {
      world.steps.push(hang());
      await world.restart();
      await asked(world, body.session);
      expect((await alice.session(body.session)).body).toMatchObject({ running: true });
    }
    await world.restart();
    expect((await alice.session(body.session)).body).toMatchObject({
      ...{ running: false, interrupted: true, resumable: true },
    });
    world.steps.push(textAnswer('By hand.'));
    expect((await alice.call('POST', `/api/sessions/${body.session}/resume`)).status).toBe(202);
    await alice.over(body.session);
    expect(await alice.texts(body.session)).toEqual(['user: hi', 'assistant: By hand.']);
  });

  it('does not go on with what was stopped or deleted', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(hang(), hang());
    const stopped = await alice.chat({ content: 'one' });
    const deleted = await alice.chat({ content: 'two' });
    await asked(world, stopped.body.session);
    await alice.call('POST', `/api/sessions/${stopped.body.session}/stop`);
    await alice.fetch('DELETE', `/api/sessions/${deleted.body.session}`);
    await world.restart();
    expect(await alice.sessions()).toMatchObject([
      { id: stopped.body.session, running: false, interrupted: false },
    ]);
    expect(world.upstream.requests).toHaveLength(2);
  });
});
