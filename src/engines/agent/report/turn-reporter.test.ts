import { describe, expect, it } from 'vitest';
import type { AgentActivity, ObservedTurn, TurnObserver, TurnOutcome } from '../../../activity/activity.js';
import type { Message } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { StopError } from '../../../core/stopping.js';
import { newBlocks, TurnReporter } from './turn-reporter.js';

const LOG = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const says = (role: Message['role'], text: string): Message => ({ role, content: [{ type: 'text', text }] });

class Recorder implements TurnObserver {
  began: ObservedTurn | undefined;
  readonly heard: AgentActivity[] = [];
  readonly ends: TurnOutcome[] = [];

  begin(turn: ObservedTurn) {
    this.began = turn;
    return {
      observe: (activity: AgentActivity) => void this.heard.push(activity),
      end: (outcome: TurnOutcome) => void this.ends.push(outcome),
    };
  }
}

function start(options: { transcript?: Message[]; began?: number; observe?: () => void } = {}) {
  const watcher = new Recorder();
  const client = new AbortController();
  const session = new AbortController();
  const state = { closing: false };
  const messages = [says('user', 'a'), says('assistant', 'b'), says('user', 'c')];
  const { transcript = messages, began = transcript.length, observe = () => {} } = options;
  const reporter = new TurnReporter({
    watcher,
    call: {
      id: 'req_1',
      request: {
        ...{ model: 'm', system: [], messages, tools: [], serverTools: [], stopSequences: [] },
        ...{ extensions: {}, stream: true },
      },
      signal: client.signal,
    },
    turn: { id: 's', principal: 'alice', transcript, began, signal: session.signal },
    observe,
    isClosing: () => state.closing,
    log: LOG,
  });
  return { watcher, reporter, client, session, state };
}

describe('TurnReporter', () => {
  it('reports how the turn began', () => {
    const { watcher } = start();
    expect(watcher.began).toEqual({
      ...{ id: 'req_1', session: 's', principal: 'alice', model: 'm' },
      message: [{ type: 'text', text: 'c' }],
    });
  });

  it('reports to the watcher also where another observer throws', () => {
    const { watcher, reporter } = start({
      observe: () => {
        throw new Error('broken');
      },
    });
    reporter.observe({ session: 's', type: 'text', text: 'x' });
    expect(watcher.heard).toEqual([{ session: 's', type: 'text', text: 'x' }]);
  });

  it('reports a resumed turn from its beginning', () => {
    const transcript: Message[] = [
      says('user', 'c'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'Look' },
          { type: 'tool_use', id: 't', name: 'Read', input: { p: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 't', isError: true, content: [{ type: 'text', text: 'no' }] },
        ],
      },
    ];
    const { watcher } = start({ transcript, began: 1 });
    expect(watcher.heard).toMatchObject([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Look' },
      { type: 'call-whole', id: 't', name: 'Read', input: { p: 1 } },
      {
        type: 'tool',
        event: { type: 'tool-result', id: 't', name: 'Read', isError: true, outcome: 'failed' },
      },
    ]);
  });

  it('reports how the turn ended', () => {
    const done = start();
    done.reporter.answered({ kind: 'done', reason: 'max_tokens' });
    const parked = start();
    parked.reporter.answered({ kind: 'handed-back' });
    const paused = start();
    paused.reporter.answered({ kind: 'max-steps' });
    const error = new GatewayError('upstream_failed', 'no');
    const failed = start();
    failed.reporter.failed(error);
    expect([done, parked, paused, failed].map(({ watcher }) => watcher.ends[0])).toEqual([
      { end: 'complete', stopReason: 'max_tokens' },
      { end: 'parked', stopReason: 'tool_use' },
      { end: 'complete', stopReason: 'pause_turn' },
      { end: 'failed', error },
    ]);
  });

  it('reports a stopped turn and a failed one differently', () => {
    const left = start();
    left.client.abort(new StopError('client-gone', 'client_closed', 'gone'));
    const stopped = start();
    stopped.session.abort(new StopError('person-stopped', 'conflict', 'stopped'));
    const shut = start();
    shut.client.abort(new StopError('gateway-stops', 'unavailable', 'The gateway stops'));
    const closing = start();
    closing.state.closing = true;
    const taken = start();
    taken.session.abort(new StopError('session-ended', 'conflict', 'deleted'));
    const all = [left, stopped, shut, closing, taken];
    for (const { reporter } of all) reporter.over();
    expect(all.map(({ watcher }) => watcher.ends[0]?.end)).toEqual([
      'stopped',
      'stopped',
      'broken',
      'broken',
      'broken',
    ]);
  });
});

it('the input of a turn is everything after the last answer', () => {
  expect(
    newBlocks([says('assistant', 'a'), says('user', 'b'), says('system', 'x'), says('user', 'c')]),
  ).toEqual([
    { type: 'text', text: 'b' },
    { type: 'text', text: 'c' },
  ]);
  expect(newBlocks([says('user', 'b'), says('assistant', 'a')])).toEqual([]);
});
