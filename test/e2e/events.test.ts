/** What `GET /api/events` of a real gateway tells of the turns of the native agent. */
import { describe, expect, it } from 'vitest';
import type { ActivityWire } from '../../src/activity/wire.js';
import type { ConsoleEvent, Snapshot } from '../../src/server/console-api/wire/events.js';
import type { EventReader } from '../support/event-reader.js';
import { EventWorld, hasEnded, isChunk, isOfTurn } from '../support/event-world.js';
import { type Gate, gate } from '../support/gate.js';
import { knownOf } from '../support/known-turn.js';
import { eventByEvent, type Piece } from '../support/replies.js';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import { call, callsAnswer, type Scripted, textAnswer } from '../support/wire.js';
import { repository } from './native-agent-harness.js';

const chunksOf = ({ events }: EventReader): ActivityWire[] => events.filter(isChunk);

/** Words for the order of a turn, with equal neighbours told once. */
function orderOf({ events }: EventReader): string[] {
  const words = events.filter(isOfTurn).map((event) => {
    if (event.type === 'turn') return `turn ${event.state}`;
    const of = event.agent === null ? '' : `${event.agent.label}: `;
    return `${of}${event.type}${event.type === 'tool_use' ? ` complete=${event.complete}` : ''}`;
  });
  return words.filter((word, index) => word !== words[index - 1]);
}

/** A gate in front of the event that has `mark` in it. */
const heldAt =
  (mark: string, held: Gate) =>
  (stream: string): Piece[] =>
    eventByEvent(stream).flatMap((piece): Piece[] => (piece.includes(mark) ? [held, piece] : [piece]));

const READ: Scripted = {
  parts: [
    { type: 'thinking', text: ['I should ', 'look.'], signature: 'sig' },
    { type: 'text', text: ['Let me ', 'look.'] },
    call('Read', { file_path: 'notes.txt' }, 'toolu_1'),
  ],
};

describe('a turn', () => {
  it('is told in order, from what was said to its end', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const world = await EventWorld.start({
      root: repo.root,
      steps: [READ, textAnswer(['It is ', '42.'])],
      permissions: { mode: 'deny', allow: ['Read'] },
    });
    const reader = await world.read();
    await world.say('What is it?');
    await reader.until(hasEnded);
    expect(orderOf(reader)).toEqual([
      'turn began',
      'model_start',
      'thinking',
      'text',
      'tool_use complete=false',
      'tool_input_delta',
      'tool_use complete=true',
      'usage',
      'tool_start',
      'tool_result',
      'model_start',
      'text',
      'usage',
      'turn ended',
    ]);
    const [began] = reader.of('turn');
    expect(began).toMatchObject({
      state: 'began',
      model: 'coder',
      message: [{ type: 'text', text: 'What is it?' }],
    });
    expect(reader.of('turn').at(-1)).toMatchObject({ end: 'complete', stop_reason: 'end_turn', error: null });
    const deltas = reader.of('tool_input_delta').map(({ delta }) => delta);
    expect(JSON.parse(deltas.join(''))).toEqual({ file_path: 'notes.txt' });
    expect(reader.of('tool_use').map(({ tool_use_id }) => tool_use_id)).toEqual(['toolu_1', 'toolu_1']);
    expect(reader.of('tool_start')[0]).toMatchObject({
      tool_use_id: 'toolu_1',
      name: 'Read',
      kind: 'read',
      because: 'rule Read of the configuration',
    });
    const [result] = reader.of('tool_result');
    expect(result).toMatchObject({
      tool_use_id: 'toolu_1',
      outcome: 'done',
      is_error: false,
      truncated: false,
    });
    expect(result?.because).toBe('rule Read of the configuration');
    expect(JSON.stringify(result?.content)).toContain('the answer is 42');
    const said = knownOf(chunksOf(reader)).flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    expect(said).toEqual(['Let me look.', 'It is 42.']);
    expect(reader.gaps).toEqual([]);
  });

  it('is beside its session, which is made, runs and ends, and the line of its request', async () => {
    const repo = await repository({ a: 'a' });
    const world = await EventWorld.start({ root: repo.root, steps: [textAnswer('Hello.')] });
    const reader = await world.read();
    await world.say('hi');
    const request = await reader.until((event) => event.type === 'request');
    const ended = await reader.until(
      (event) => event.type === 'session' && event.what === 'changed' && !event.session.running,
    );
    const turn = reader.of('turn')[0];
    expect(request).toMatchObject({ trace: { key: 'alice', model: 'coder', status: 200 } });
    expect(ended).toMatchObject({
      session: { id: turn?.session, key: 'alice', engine: 'native', root: repo.root },
    });
    await world.api('DELETE', `/api/sessions/${turn?.session}`);
    const deleted = await reader.until((event) => event.type === 'session' && event.what === 'deleted');
    expect(deleted).toMatchObject({ session: { id: turn?.session } });
    expect(reader.gaps).toEqual([]);
  });

  it('that fails says why, and one whose client leaves was stopped', async () => {
    const repo = await repository({ a: 'a' });
    const held = gate();
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        errorInDialect(400, 'invalid_request_error', 'No such thing'),
        inDialect(textAnswer(['One, ', 'two']), { pieces: heldAt('two', held) }),
      ],
    });
    const reader = await world.read();
    await world.say('fail');
    const failed = await reader.until(hasEnded);
    expect(failed).toMatchObject({
      end: 'failed',
      error: { type: 'invalid_request', message: expect.stringContaining('No such thing') },
    });
    const leave = new AbortController();
    const left = world.say('count', 'alice', leave.signal).catch(() => 'left');
    await reader.until((event) => event.type === 'text');
    leave.abort();
    await left;
    await reader.until(
      (event) => hasEnded(event) && isOfTurn(event) && isOfTurn(failed) && event.turn !== failed.turn,
    );
    expect(reader.of('turn').at(-1)).toMatchObject({ end: 'stopped', error: null });
  });

  it('tells a call under the id that it keeps, where its server uses the same ones again', async () => {
    const repo = await repository({ a: 'first', b: 'second' });
    const world = await EventWorld.start({
      root: repo.root,
      dialect: 'openai-chat',
      steps: [
        callsAnswer(call('Read', { file_path: 'a' }, 'call_0')),
        callsAnswer(call('Read', { file_path: 'b' }, 'call_0')),
        textAnswer('Done.'),
      ],
    });
    const reader = await world.read();
    await world.say('go');
    await reader.until(hasEnded);
    const cards = knownOf(chunksOf(reader)).flatMap((part) => (part.kind === 'card' ? [part.card] : []));
    expect(cards.map(({ input, state }) => [input, state])).toEqual([
      [{ file_path: 'a' }, 'done'],
      [{ file_path: 'b' }, 'done'],
    ]);
    expect(new Set(cards.map(({ id }) => id)).size).toBe(2);
    const [session] = reader.of('turn').map((each) => each.session);
    const content = await (await world.api('GET', `/api/sessions/${session}`)).text();
    for (const { id } of cards) expect(content).toContain(`"tool_use_id":"${id}"`);
  });

  it('takes back calls of an answer that broke off and is asked for again', async () => {
    const repo = await repository({ a: 'first' });
    const made = callsAnswer(call('Read', { file_path: 'a' }, 'toolu_1'));
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        inDialect(made, {
          pieces: (stream) => eventByEvent(stream).slice(0, 4),
          end: 'close',
        }),
        inDialect(made),
        textAnswer('Done.'),
      ],
    });
    const reader = await world.read();
    await world.say('go');
    await reader.until(hasEnded);
    expect(reader.of('dropped')).toMatchObject([{ tool_use_ids: ['toolu_1'] }]);
    const cards = knownOf(chunksOf(reader)).filter(({ kind }) => kind === 'card');
    expect(cards).toMatchObject([{ card: { id: 'toolu_1', state: 'done', input: { file_path: 'a' } } }]);
  });

  it('tells what sub-agents do under their names and the call that they work for', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const task = { description: 'find it', prompt: 'What is it?', subagent_type: 'general-purpose' };
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        callsAnswer(call('Task', task, 'toolu_task')),
        callsAnswer(call('Read', { file_path: 'notes.txt' }, 'toolu_read')),
        textAnswer('It is 42.'),
        textAnswer('The answer: 42.'),
      ],
    });
    const reader = await world.read();
    await world.say('go');
    await reader.until(hasEnded);
    expect(orderOf(reader).filter((word) => word.startsWith('find it: '))).toEqual([
      'find it: agent_start',
      'find it: model_start',
      'find it: tool_use complete=false',
      'find it: tool_input_delta',
      'find it: tool_use complete=true',
      'find it: usage',
      'find it: tool_start',
      'find it: tool_result',
      'find it: model_start',
      'find it: text',
      'find it: usage',
      'find it: agent_end',
    ]);
    const agents = new Set(chunksOf(reader).flatMap(({ agent }) => (agent === null ? [] : [agent.parent])));
    expect([...agents]).toEqual(['toolu_task']);
    expect(reader.of('agent_end')[0]).toMatchObject({ turns: 2, cut_short: null });
    const main = chunksOf(reader).filter(({ agent, type }) => agent === null && type === 'text');
    expect(knownOf(main)).toMatchObject([{ text: 'The answer: 42.' }]);
  });
});

describe('a call that waits for a person', () => {
  it('is one card: the question has its id, and why it ran names who said so', async () => {
    const repo = await repository({ a: 'a' });
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        callsAnswer(call('Bash', { command: 'touch made', description: 'Make it' }, 'toolu_1')),
        textAnswer('Done.'),
      ],
      // Who reads events and may answer is there: nobody else is.
      permissions: { mode: 'ask', unattended: 'deny' },
    });
    const reader = await world.read();
    const said = world.say('make it');
    const asked = await reader.until((event) => event.type === 'approval' && event.what === 'requested');
    if (asked.type !== 'approval') throw new Error('no question');
    const { id, digest, tool_use_id, session } = asked.approval;
    const waiting = await reader.until((event) => event.type === 'tool_waiting');
    expect(waiting).toMatchObject({
      tool_use_id,
      approval: id,
      title: expect.stringContaining('touch made'),
    });
    expect(tool_use_id).toBe('toolu_1');
    expect(session).toBe(reader.of('turn')[0]?.session);
    await world.api('POST', `/api/approvals/${id}`, { decision: 'allow', digest });
    await said;
    await reader.until(hasEnded);
    expect(reader.of('approval').map(({ what }) => what)).toEqual(['requested', 'resolved']);
    expect(reader.of('tool_start')[0]?.because).toBe('allowed by alice (api)');
    expect(reader.of('tool_result')[0]).toMatchObject({ outcome: 'done', because: 'allowed by alice (api)' });
    expect(reader.gaps).toEqual([]);
  });

  it('is denied with the reason on its card', async () => {
    const repo = await repository({ a: 'a' });
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        callsAnswer(call('Bash', { command: 'rm a', description: 'x' }, 'toolu_1')),
        textAnswer('Then not.'),
      ],
      permissions: { mode: 'ask' },
    });
    const reader = await world.read();
    const said = world.say('remove it');
    const asked = await reader.until((event) => event.type === 'approval');
    if (asked.type !== 'approval') throw new Error('no question');
    const { id, digest } = asked.approval;
    await world.api('POST', `/api/approvals/${id}`, { decision: 'deny', digest, reason: 'I need it' });
    await said;
    await reader.until(hasEnded);
    expect(reader.of('tool_start')).toEqual([]);
    expect(reader.of('tool_result')[0]).toMatchObject({
      outcome: 'denied',
      because: 'denied by alice (api): I need it',
    });
  });
});

describe('a snapshot in the middle of a turn', () => {
  async function snapshotOf(world: EventWorld, name = 'alice'): Promise<{ id: string } & Snapshot> {
    const response = await world.api('GET', '/api/events?once=1', undefined, name);
    expect(response.headers.get('content-type')).toContain('application/json');
    const body: { id: string } & Snapshot = JSON.parse(await response.text());
    return body;
  }

  /** Everything that the reader was told up to the snapshot. */
  async function heardUpTo(reader: EventReader, { id }: { id: string }): Promise<ActivityWire[]> {
    const seq = (event: ConsoleEvent): number => Number(event.id.split('.')[1]);
    const last = Number(id.split('.')[1]);
    await reader.until((event) => seq(event) >= last);
    return reader.events.filter((event) => seq(event) <= last).filter(isChunk);
  }

  it.each([
    ['in its thinking', 'look.'],
    ['in a text', '"text":"look.'],
    ['in the arguments of a call', 'partial_json'],
    ['at the end of the message', 'message_stop'],
  ])('%s shows what a reader from the beginning knows', async (_where, mark) => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const held = gate();
    const world = await EventWorld.start({
      root: repo.root,
      steps: [inDialect(READ, { pieces: heldAt(mark, held) }), textAnswer('It is 42.')],
    });
    const reader = await world.read();
    const said = world.say('What is it?');
    await held.reached;
    const snapshot = await snapshotOf(world);
    expect(snapshot).toMatchObject({ type: 'snapshot', prev: null, approvals: [] });
    expect(snapshot.turns).toHaveLength(1);
    const [turn] = snapshot.turns;
    expect(turn).toMatchObject({ model: 'coder', message: [{ type: 'text', text: 'What is it?' }] });
    expect(knownOf(turn?.chunks ?? [])).toEqual(knownOf(await heardUpTo(reader, snapshot)));
    held.open();
    await said;
    await reader.until(hasEnded);
    expect((await snapshotOf(world)).turns).toEqual([]);
  });

  it('with a question shows it, and the turns and questions of other keys to an administrator alone', async () => {
    const repo = await repository({ 'notes.txt': 'the answer is 42' });
    const world = await EventWorld.start({
      root: repo.root,
      steps: [
        READ,
        callsAnswer(call('Bash', { command: 'touch made', description: 'x' }, 'toolu_2')),
        textAnswer('Done.'),
      ],
      permissions: { mode: 'ask', allow: ['Read'] },
    });
    const reader = await world.read();
    const said = world.say('go');
    await reader.until((event) => event.type === 'tool_waiting');
    const snapshot = await snapshotOf(world);
    expect(snapshot.approvals).toMatchObject([{ tool_use_id: 'toolu_2', state: 'pending' }]);
    expect(knownOf(snapshot.turns[0]?.chunks ?? [])).toEqual(knownOf(await heardUpTo(reader, snapshot)));
    expect(await snapshotOf(world, 'bob')).toMatchObject({ approvals: [], turns: [] });
    expect(await snapshotOf(world, 'root')).toMatchObject({ approvals: [{}], turns: [{}] });
    const [asked] = snapshot.approvals;
    await world.api('POST', `/api/approvals/${asked?.id}`, { decision: 'allow', digest: asked?.digest });
    await said;
    expect(await snapshotOf(world)).toMatchObject({ approvals: [], turns: [] });
  });
});
