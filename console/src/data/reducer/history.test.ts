import { describe, expect, it } from 'vitest';
import type { BlockWire } from '../../../../src/activity/wire.js';
import type { MessageWire } from '../../../../src/server/console-api/wire/sessions.js';
import { approvalOf, type NewChunk, ScriptedGateway } from '../../../../test/support/scripted-gateway.js';
import { alignTurn } from './align.js';
import { applyEvent } from './apply-event.js';
import { INITIAL_STATE, type TurnView } from './console-state.js';
import { drawTurns } from './draw-conversation.js';
import { type HistoryOptions, turnsOfMessages } from './history.js';
import type { Part } from './view.js';

const partsOfMessages = (...given: Parameters<typeof turnsOfMessages>): Part[] =>
  turnsOfMessages(...given).flatMap(({ parts }) => parts);

const text = (said: string): BlockWire => ({ type: 'text', text: said });
const use = (id: string): BlockWire => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } });
const gave = (id: string, said = 'ok', is_error = false): BlockWire => ({
  type: 'tool_result',
  tool_use_id: id,
  is_error,
  content: [text(said)],
});

/** `u`: of the user. */
function messages(...said: [turn: number, role: 'u' | 'a', ...content: BlockWire[]][]): MessageWire[] {
  return said.map(([turn, role, ...content], index) => ({
    index,
    turn,
    role: role === 'u' ? 'user' : 'assistant',
    content,
  }));
}

const TALK = messages(
  [0, 'u', text('go')],
  [0, 'a', { type: 'thinking', thinking: 'hm' }, text('one '), text('two'), use('c1'), use('c2')],
  [0, 'u', gave('c1'), gave('c2', 'no', true)],
  [0, 'a', text('done')],
  [1, 'u', text('and?')],
  [1, 'a', { type: 'redacted_thinking' }, text(' '), text('nothing')],
);

function heard(chunks: readonly NewChunk[], message: BlockWire[] = [text('go')]): TurnView {
  const gateway = new ScriptedGateway();
  gateway.begin('t1', 's1', message);
  for (const chunk of chunks) gateway.chunk(chunk);
  const turn = gateway.events
    .reduce((state, event) => applyEvent(state, event), INITIAL_STATE)
    .turns.get('s1');
  if (turn === undefined) throw new Error('There is no turn');
  return turn;
}

const SAYS = (said: string): NewChunk => ({ type: 'text', text: said });
const CALLS = (id: string): NewChunk => ({
  type: 'tool_use',
  tool_use_id: id,
  name: 'Bash',
  complete: true,
  input: { command: id },
});
const STEP: NewChunk = { type: 'model_start', step: 2, model: 'm' };

const outline = (parts: readonly Part[]): string[] =>
  parts.map((part) =>
    part.kind === 'tool' ? `${part.card.id} ${part.card.state}` : 'text' in part ? part.text : part.kind,
  );

describe('a transcript', () => {
  it('becomes parts: texts of a message are one, calls have their results', () => {
    const parts = partsOfMessages(TALK);
    expect(outline(parts)).toEqual([
      'user',
      'hm',
      'one two',
      'c1 success',
      'c2 error',
      'done',
      'user',
      '',
      'nothing',
    ]);
    expect(parts.filter(({ kind }) => kind === 'user')).toMatchObject([{ turn: 0 }, { turn: 1 }]);
    expect(new Set(parts.map(({ key }) => key)).size).toBe(parts.length);
  });

  it.each<[string, HistoryOptions, string]>([
    ['which the client has to run', { openCalls: new Set(['c1']) }, 'handed-back'],
    ['of a turn that runs', { running: true }, 'pending'],
    ['of a turn that does not run any more', {}, 'unknown'],
    ['that somebody is asked about', { approvals: new Map([['c1', approvalOf('q1')]]) }, 'waiting'],
    ['that expired', { approvals: new Map([['c1', approvalOf('q1', { state: 'expired' })]]) }, 'expired'],
  ])('shows a call without a result in its state: %s', (_what, options, state) => {
    const open = messages([0, 'u', text('go')], [0, 'a', use('c1')]);
    expect(outline(partsOfMessages(open, options))).toEqual(['user', `c1 ${state}`]);
  });

  it('gives results that come in a later turn to the call that they are of', () => {
    const talk = messages(
      [0, 'u', text('go')],
      [0, 'a', use('c1')],
      [1, 'u', gave('c1')],
      [1, 'a', text('done')],
    );
    expect(outline(partsOfMessages(talk))).toEqual(['user', 'c1 success', 'done']);
  });

  it('keeps keys apart where ids are used twice', () => {
    const talk = messages(
      [0, 'u', text('a')],
      [0, 'a', use('c1')],
      [0, 'u', gave('c1')],
      [1, 'u', text('b')],
      [1, 'a', use('c1')],
    );
    const keys = partsOfMessages(talk).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('has the keys that its parts had while they were heard', () => {
    const live = heard([
      { type: 'thinking', text: 'hm' },
      SAYS('one '),
      SAYS('two'),
      CALLS('c1'),
      CALLS('c2'),
      STEP,
      SAYS('done'),
    ]);
    const written = partsOfMessages(TALK.slice(0, 4), { nameOf: () => live.turn });
    expect(written.map(({ key }) => key)).toEqual(live.parts.map(({ key }) => key));
  });
});

describe('a turn in both transcript and events', () => {
  const turnOf = (said: MessageWire[]): readonly Part[] =>
    turnsOfMessages(said, { running: true })[0]?.parts ?? [];
  const live = heard([SAYS('one two'), CALLS('c1'), CALLS('c2'), STEP, SAYS('do')]).parts;

  it.each<[string, MessageWire[]]>([
    ['only what was said to begin it', TALK.slice(0, 1)],
    ['its first step', TALK.slice(0, 2)],
    ['its results', TALK.slice(0, 3)],
    ['all of it', TALK.slice(0, 4)],
  ])('is shown once where the transcript has %s', (_what, written) => {
    const drawn = outline(alignTurn(turnOf(written), live)).map((line) => line.split(' ')[0]);
    expect(drawn.filter((line) => line !== 'hm')).toEqual([
      'user',
      'one',
      'c1',
      'c2',
      written.length > 3 ? 'done' : 'do',
    ]);
  });

  it('has what was written before the events began, and what they say behind it', () => {
    const resumed = heard([STEP, SAYS('done')]).parts;
    expect(outline(alignTurn(turnOf(TALK.slice(0, 3)), resumed))).toEqual([
      'user',
      'hm',
      'one two',
      'c1 success',
      'c2 error',
      'done',
    ]);
  });

  it('is another turn where the same is said again behind a whole answer', () => {
    const turns = turnsOfMessages(TALK.slice(0, 4));
    const again = heard([SAYS('else')]);
    expect(outline(drawTurns(turns, again)).slice(-2)).toEqual(['user', 'else']);
    expect(outline(drawTurns(turns, heard([]))).at(-1)).toBe('user');
    expect(outline(drawTurns(turns, heard([SAYS('one'), CALLS('c1')])))).toHaveLength(6);
  });

  it('takes what a result says in full from the transcript, and how it went from the events', () => {
    const watched = heard([
      CALLS('c1'),
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        name: 'Bash',
        outcome: 'done',
        is_error: false,
        duration_ms: 9,
        content: [text('o')],
        truncated: true,
        because: 'rule',
      },
    ]).parts;
    const [, card] = alignTurn(
      turnOf(messages([0, 'u', text('go')], [0, 'a', use('c1')], [0, 'u', gave('c1')])),
      watched,
    );
    expect(card).toMatchObject({
      card: { result: [text('ok')], truncated: false, durationMs: 9, because: 'rule' },
    });
  });
});
