import { describe, expect, it } from 'vitest';
import type {
  AgentActivity,
  AgentActivityBody,
  ObservedTurn,
  TurnOutcome,
  TurnWatcher,
} from '../../activity/activity.js';
import type { Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { StopError } from '../../core/stopping.js';
import { type CollectedMessage, MessageCollector } from './message-collector.js';
import { MessageReporter, newBlocks, TurnReporter } from './reporters.js';

const LOG = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const says = (role: Message['role'], text: string): Message => ({ role, content: [{ type: 'text', text }] });

class Recorder implements TurnWatcher {
  began: ObservedTurn | undefined;
  readonly heard: AgentActivity[] = [];
  readonly ends: TurnOutcome[] = [];

  begin(turn: ObservedTurn) {
    this.began = turn;
    return {
      observe: (activity: AgentActivity) => void this.heard.push(activity),
      end: (outcome: TurnOutcome) => void this.ends.push(outcome),
      takeRecord: () => undefined,
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
        ...{ model: 'm', system: [], messages, tools: [], providerTools: [], stopSequences: [] },
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

function heard(events: readonly ModelEvent[], taken: readonly string[] = []) {
  const told: AgentActivityBody[] = [];
  const ids = new Set(taken);
  const reporter = new MessageReporter(
    (activity) => told.push(activity),
    ids,
    (name) => name.replace('mcp__x__', ''),
  );
  const collector = new MessageCollector(ids, reporter);
  collector.push(events);
  const finish = (): CollectedMessage => {
    const message = collector.finish();
    if (!('content' in message)) throw message;
    return message;
  };
  return { told, reporter, finish };
}

const STOP: ModelEvent = { type: 'stop', reason: 'tool_use' };
const tool = (key: number, id?: string, name?: string): ModelEvent => ({
  ...{ type: 'tool', key },
  ...(id === undefined ? {} : { id }),
  ...(name === undefined ? {} : { name }),
});
const input = (key: number, json: string): ModelEvent => ({ type: 'tool-input', key, json });
const end = (key: number): ModelEvent => ({ type: 'tool-end', key });

describe('MessageReporter', () => {
  it('reports text and calls as they arrive', () => {
    const { told, reporter, finish } = heard([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Look' },
      tool(0, 'a', 'mcp__x__Read'),
      input(0, '{"p"'),
      input(0, ':1}'),
      end(0),
      STOP,
    ]);
    const calls = finish().calls.map(({ key, block }) => ({
      ...(key === undefined ? {} : { key }),
      block: { ...block, name: 'Read' },
    }));
    reporter.settle(calls);
    expect(told).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Look' },
      { type: 'call-began', id: 'a', name: 'Read' },
      { type: 'call-input', id: 'a', json: '{"p"' },
      { type: 'call-input', id: 'a', json: ':1}' },
      { type: 'call-whole', id: 'a', name: 'Read', input: { p: 1 } },
    ]);
  });

  it('waits for the name of a call, and loses nothing of what came before it', () => {
    const { told } = heard([tool(0, 'a'), input(0, '{"p"'), tool(0, undefined, 'Read'), input(0, ':1}')]);
    expect(told).toEqual([
      { type: 'call-began', id: 'a', name: 'Read' },
      { type: 'call-input', id: 'a', json: '{"p"' },
      { type: 'call-input', id: 'a', json: ':1}' },
    ]);
  });

  it('reports a call again when its id changes, and completes it only then', () => {
    const { told, reporter, finish } = heard([tool(0, undefined, 'Read'), input(0, '{}'), STOP], ['call_1']);
    const message = finish();
    for (const { block } of message.calls) block.id = 'claimed';
    reporter.settle(message.calls);
    const [began, , whole] = told;
    expect(began).toMatchObject({ type: 'call-began', id: expect.not.stringMatching(/^call_1$/) });
    const { id } = began?.type === 'call-began' ? began : { id: '' };
    expect(whole).toEqual({ type: 'call-whole', id: 'claimed', was: id, name: 'Read', input: {} });
  });

  it('gives calls of the same id ids of their own, those that the message will have', () => {
    const { told, reporter, finish } = heard(
      [tool(0, 'a', 'Read'), end(0), tool(1, 'a', 'Read'), end(1), STOP],
      ['a'],
    );
    const { calls } = finish();
    reporter.settle(calls);
    expect(told.map((each) => [each.type, 'id' in each && each.id])).toEqual([
      ['call-began', 'a-2'],
      ['call-whole', 'a-2'],
      ['call-began', 'a-3'],
      ['call-whole', 'a-3'],
    ]);
    expect(calls.map(({ block }) => block.id)).toEqual(['a-2', 'a-3']);
  });

  it('reports unfinished calls as dropped, once', () => {
    const { told, reporter } = heard([tool(0, 'a', 'Read'), tool(1, 'b', 'Read')]);
    reporter.drop();
    reporter.drop();
    expect(told.slice(2)).toEqual([{ type: 'calls-dropped', ids: ['a', 'b'] }]);
  });
});
