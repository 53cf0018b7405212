/**
 * A conversation with a plain model that the gateway keeps itself: the model is told all of it each
 * time, and what it says becomes part of it. No tools: there is no client that could run them.
 */
import type { TurnObserver } from '../../activity/activity.js';
import type { ConversationRequest, Message } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { causeOf } from '../../core/stopping.js';
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Sessions, Turn } from '../../sessions/sessions.js';
import { attachRequest } from '../agent/agent-request.js';
import { SESSION_HEADER, sessionHeaders } from '../agent/answers.js';
import { attachTurn } from '../agent/attach-turn.js';
import { LIMITS } from '../agent/limits.js';
import { type LiveTurn, LiveTurns } from '../agent/live/live-turns.js';
import { TurnReporter } from '../agent/report/turn-reporter.js';
import { giveUp, turnFailure } from '../agent/turn-end.js';
import { checkDemands } from '../demands.js';
import type { Answer, Engine, ModelRequest } from '../engine.js';
import { PlainAnswer, toolsOfHistory } from './plain-answer.js';

export interface PlainEngineOptions {
  relay: Engine;
  /** The caller closes them, after the engine. */
  sessions: Sessions;
  log: Log;
  /** Told of every turn. */
  watcher?: TurnObserver | undefined;
  pingMs?: number;
}

/** Of a conversation without a folder. */
const NOWHERE = '';
const NO_BYTES = new Uint8Array(0);

export class PlainEngine implements Engine {
  readonly #options: PlainEngineOptions;
  readonly #turns = new LiveTurns();
  #closing = false;

  constructor(options: PlainEngineOptions) {
    this.#options = options;
  }

  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    checkDemands(call.request, 'plain');
    const { sessions, log, pingMs = LIMITS.pingMs } = this.#options;
    let telling: TurnReporter | undefined;
    const attached = await attachTurn({
      sessions,
      turns: this.#turns,
      call,
      request: attachRequest(call, 'relay', NOWHERE),
      pingMs,
      onEnd: async (turn) => {
        await giveUp(turn, 'abandon', log);
        telling?.over();
      },
    });
    if (attached.kind === 'answer') return attached.answer;
    const { turn, running } = attached;
    telling = this.#telling(call, turn, running);
    try {
      const { body, ...asked } = await this.#ask(call, route, turn, running);
      if (body.kind !== 'events') throw new Error('A conversation that is kept was answered with bytes.');
      const head = {
        ...asked,
        headers: { ...asked.headers, ...sessionHeaders(turn.id, turn.how) },
        losses: [...turn.losses, ...asked.losses],
      };
      return running.begin(head, this.#answer(call, turn, body.batches, telling));
    } catch (error) {
      const failure = turnFailure(turn, error);
      await giveUp(turn, 'discard', log);
      telling.failed(failure);
      await running.fail(failure);
      throw failure;
    }
  }

  /** Stops the turns that still run. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#turns.close();
  }

  #telling(call: ModelRequest, turn: Turn, { observe }: LiveTurn): TurnReporter {
    const { watcher, log } = this.#options;
    return new TurnReporter({ watcher, call, turn, observe, isClosing: () => this.#closing, log });
  }

  #ask(call: ModelRequest, route: ModelRoute, turn: Turn, running: LiveTurn): Promise<Answer> {
    const signal = AbortSignal.any([running.signal, turn.signal]);
    const request = modelRequest(call.request, turn);
    // Without a body of its own nothing can be forwarded as it came.
    const asking: ModelRequest = {
      ...call,
      request,
      raw: NO_BYTES,
      headers: { [SESSION_HEADER]: turn.id },
      signal,
    };
    return this.#options.relay.run(asking, route);
  }

  /** The turn is kept before its last event is out. */
  async *#answer(
    call: ModelRequest,
    turn: Turn,
    batches: AsyncIterable<readonly ModelEvent[]>,
    telling: TurnReporter,
  ): AsyncGenerator<readonly ModelEvent[], void, void> {
    const answer = new PlainAnswer(call.request.model);
    const { id: session } = turn;
    const { model } = call.request;
    telling.observe({ session, type: 'model-start', step: 1, model });
    try {
      for await (const batch of batches) {
        for (const piece of answer.push(batch)) telling.observe({ session, ...piece });
        if (turn.signal.aborted || answer.error !== undefined) break;
        const pieces = batch.filter(({ type }) => type !== 'stop');
        if (pieces.length > 0) yield pieces;
      }
      if (!turn.signal.aborted && answer.error === undefined) answer.finish();
      const { end, error } = answer;
      if (turn.signal.aborted) await this.#keepStopped(turn, answer);
      if (end === undefined || error !== undefined || turn.signal.aborted) throw turnFailure(turn, error);
      const { reason, usage, ...more } = end;
      telling.observe({ session, type: 'model-end', step: 1, usage, stopReason: reason });
      await complete(turn, answer, { reason, ...more });
      telling.answered({ kind: 'done', reason, ...more });
      yield [
        { type: 'usage', usage },
        { type: 'stop', reason, ...more },
      ];
    } catch (error) {
      if (!(error instanceof GatewayError)) {
        this.#options.log.error({ err: error, id: call.id, session }, 'bug in a kept conversation');
      }
      const failure = toGatewayError(error);
      await giveUp(turn, 'abandon', this.#options.log);
      telling.failed(failure);
      yield [{ type: 'error', error: failure }];
    }
  }

  /** A person stopped it: what was said so far is the answer. Nothing said leaves the turn as it is. */
  async #keepStopped(turn: Turn, answer: PlainAnswer): Promise<void> {
    if (causeOf(turn.signal) !== 'person-stopped') return;
    if (answer.blocks.some(({ type }) => type === 'text'))
      await complete(turn, answer, { reason: 'end_turn' });
  }
}

async function complete(
  turn: Turn,
  answer: PlainAnswer,
  end: Pick<NonNullable<PlainAnswer['end']>, 'reason' | 'stopSequence'>,
): Promise<void> {
  const { blocks } = answer;
  const said: Message[] = blocks.length === 0 ? [] : [{ role: 'assistant', content: blocks }];
  turn.transcript.push(...said);
  await turn.complete({ answer: { blocks, ...end } });
}

function modelRequest(request: ConversationRequest, turn: Turn): ConversationRequest {
  const messages = [...turn.transcript];
  const tools = toolsOfHistory(messages);
  return {
    ...request,
    system: [...turn.system],
    messages,
    tools,
    ...(tools.length === 0 ? {} : { toolChoice: { type: 'none' } as const }),
    serverTools: [],
    cacheKey: turn.id,
    stream: true,
  };
}
