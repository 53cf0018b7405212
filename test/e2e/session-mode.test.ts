/** How a person wants the calls of a session to be decided: chosen by people alone, and true for every agent. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionWire } from '../../src/server/console-api/wire/sessions.js';
import { callAnswer, textAnswer } from '../support/wire.js';
import { type ChatWorld, KEYS, openChatWorld, Person } from './console-chat-harness.js';

const ENGINES = ['native', 'claude-code'] as const;

const openIn = (engine: string, permissions: object = { mode: 'ask' }): Promise<ChatWorld> =>
  openChatWorld({
    agent: { engine },
    rest: {
      permissions: { unattended: 'wait', ...permissions },
      sessions: { max_live: 2 },
      server: { keys: [...KEYS, { key: 'secret-of-carol', name: 'carol', scopes: ['call'] }] },
    },
  });

const carolIn = (world: ChatWorld): Person => new Person(() => world.gateway, 'secret-of-carol');

const setMode = (person: Person, id: string, mode: SessionWire['mode']) =>
  person.call<SessionWire>('PATCH', `/api/sessions/${id}`, { mode });

const write = (world: ChatWorld, name: string, id: string) =>
  callAnswer('Write', { file_path: join(world.root, name), content: 'written' }, { callId: id });

/** What the model was sent last, as text. */
const lastAsked = ({ upstream }: ChatWorld): string => upstream.requests.at(-1)?.text ?? '';

describe.each(ENGINES)('a plan (%s)', (engine) => {
  it('is made without changing anything, sent back, accepted, and carried out', async () => {
    const world = await openIn(engine, { mode: 'ask', allow: ['Write'] });
    const alice = world.person('alice');
    const plan = (text: string, id: string) => callAnswer('ExitPlanMode', { plan: text }, { callId: id });
    world.steps.push(
      write(world, 'early.txt', 'call_1'),
      plan('Write late.txt', 'call_2'),
      plan('Write late.txt, and say so', 'call_3'),
      write(world, 'late.txt', 'call_4'),
      textAnswer('Done.'),
    );
    const { body } = await alice.chat({ model: 'coder', content: 'Do it', mode: 'plan' });
    const first = await alice.question();
    expect(existsSync(join(world.root, 'early.txt')), 'a rule allows it, the mode does not').toBe(false);
    expect(lastAsked(world)).toContain('Mode plan denies');
    expect(lastAsked(world)).toContain('# Plan first');
    const reason = 'Say what you did as well.';
    await alice.call('POST', `/api/approvals/${first.id}`, {
      decision: 'deny',
      digest: first.digest,
      reason,
    });
    const second = await alice.question();
    expect(lastAsked(world)).toContain(reason);
    expect((await alice.session(body.session)).body.mode).toBe('plan');
    expect(await alice.allow(second)).toBe(200);
    const over = await alice.over(body.session);
    expect(over.mode, 'what it was before').toBeNull();
    expect(await readFile(join(world.root, 'late.txt'), 'utf8')).toBe('written');
    expect(lastAsked(world)).not.toContain('# Plan first');
  });

  it('is not left by the model: not by its tools, not by a rule, not where nobody answers', async () => {
    const world = await openIn(engine, { mode: 'allow', allow: ['*'], unattended: 'deny' });
    const alice = world.person('alice');
    world.steps.push(
      callAnswer('ExitPlanMode', { plan: 'I approve it myself' }, { callId: 'call_1' }),
      write(world, 'a.txt', 'call_2'),
      callAnswer('Bash', { command: 'touch b.txt', description: 'Touch' }, { callId: 'call_3' }),
      textAnswer('I could not.'),
    );
    const { session } = await alice.say({ model: 'coder', content: 'Do it', mode: 'plan' });
    expect((await alice.session(session)).body.mode).toBe('plan');
    expect(existsSync(join(world.root, 'a.txt'))).toBe(false);
    expect(existsSync(join(world.root, 'b.txt'))).toBe(false);
    expect(await alice.texts(session)).toContain('assistant: I could not.');
  });
});

describe.each(ENGINES)('a mode that is chosen while a turn runs (%s)', (engine) => {
  it('decides what waits and what comes, and only that', async () => {
    const world = await openIn(engine, { mode: 'ask', deny: ['Write(./secret.txt)'] });
    const alice = world.person('alice');
    world.steps.push(
      write(world, 'a.txt', 'call_1'),
      write(world, 'secret.txt', 'call_2'),
      callAnswer('Bash', { command: 'touch b.txt', description: 'Touch' }, { callId: 'call_3' }),
      textAnswer('That was it.'),
    );
    const { body } = await alice.chat({ model: 'coder', content: 'Do it' });
    await alice.question();
    expect((await setMode(alice, body.session, 'allow-edits')).body.mode).toBe('allow-edits');
    // The edit that waited has run, the denied one has not, and the command is asked about.
    const command = await alice.question();
    expect(existsSync(join(world.root, 'a.txt'))).toBe(true);
    expect(existsSync(join(world.root, 'secret.txt'))).toBe(false);
    await setMode(alice, body.session, 'read-only');
    await alice.over(body.session);
    const { body: settled } = await alice.call<{ state: string }>('GET', `/api/approvals/${command.id}`);
    expect(settled.state).toBe('denied');
    expect(existsSync(join(world.root, 'b.txt'))).toBe(false);
  });
});

describe('the mode of a session', () => {
  it('is kept over a restart, and a copy has it', async () => {
    const world = await openIn('native');
    const alice = world.person('alice');
    world.steps.push(textAnswer('Hello.'));
    const { session } = await alice.say({ model: 'coder', content: 'Hi', mode: 'read-only' });
    await world.restart();
    expect((await alice.session(session)).body.mode).toBe('read-only');
    const fork = await alice.call<SessionWire>('POST', `/api/sessions/${session}/fork`, {});
    expect(fork.body.mode).toBe('read-only');
    world.steps.push(write(world, 'a.txt', 'call_1'), textAnswer('No.'));
    await alice.say({ model: 'coder', content: 'Write', session });
    expect(existsSync(join(world.root, 'a.txt'))).toBe(false);
  });

  it('lets no edits through in a copy, whoever makes it', async () => {
    const world = await openIn('native');
    const [alice, carol] = [world.person('alice'), carolIn(world)];
    world.steps.push(textAnswer('Hello.'));
    const { session } = await alice.say({ model: 'coder', content: 'Hi', mode: 'allow-edits' });
    const fork = await alice.call<SessionWire>('POST', `/api/sessions/${session}/fork`, {});
    expect(fork.body.mode).toBe('ask');
    expect((await setMode(carol, fork.body.id, 'allow-edits')).status).toBe(404);
    expect((await alice.session(session)).body.mode).toBe('allow-edits');
  });

  it('is opened by who may approve alone, and never beyond the configuration', async () => {
    const world = await openIn('native');
    const [alice, bob, carol] = [world.person('alice'), world.person('bob'), carolIn(world)];
    world.steps.push(textAnswer('Hello.'));
    const { session } = await carol.say({ model: 'coder', content: 'Hi', mode: 'plan' });
    expect(await setMode(carol, session, 'ask')).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining('scope approve') } },
    });
    expect((await setMode(carol, session, null)).status).toBe(403);
    expect((await setMode(carol, session, 'read-only')).status).toBe(200);
    expect((await carol.chat({ model: 'coder', content: 'x', mode: 'allow-edits' })).status).toBe(403);
    for (const other of [alice, bob]) expect((await setMode(other, session, 'ask')).status).toBe(404);
    expect((await setMode(world.person('root'), session, 'ask')).status).toBe(200);
    const inUse = await carol.chat({ model: 'coder', content: 'x', session, mode: 'plan' });
    expect(inUse).toMatchObject({ status: 400, body: { error: { param: 'mode' } } });
    const strict = await openIn('native', { mode: 'read-only' });
    expect(
      await strict.person('alice').chat({ model: 'coder', content: 'x', mode: 'allow-edits' }),
    ).toMatchObject({
      status: 400,
      body: { error: { param: 'mode', code: 'mode_exceeds_configuration' } },
    });
  });
});
