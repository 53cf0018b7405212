/**
 * A model that plays a script to a real client. Every request is a state of the conversation: the
 * prompt it goes on from says which script, the assistant's turns since then say which step. A step
 * is played once: a client that asks again has retried, and the test fails.
 */
import type { Gate } from '../support/gate.js';
import type { AnswerReply, Piece, Reply } from '../support/replies.js';
import { json } from '../support/replies.js';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import type { RecordedRequest, ScriptFunction } from '../support/scripted-upstream.js';
import { type CallPart, cut, type Scripted } from '../support/wire.js';
import { readRequest, type SeenRequest } from './read-request.js';
import { checkRequest } from './strict-request.js';

/** An answer, or what makes one from the request; a reply is sent as it is. */
export type Step = Scripted | ((seen: SeenRequest) => Scripted | Reply | Promise<Scripted | Reply>);

/** A list of steps in the place of one answers the same state each time it is asked: first this, then that. */
export type Steps = readonly (Step | readonly Step[])[];

/** Answers what a client asks beside its conversation (a title for it, say); undefined for the rest. */
export type Aside = (seen: SeenRequest) => Scripted | undefined;

/** Steps by a piece of the prompt they answer. */
export type Conversations = Readonly<Record<string, Steps>>;

export interface Played {
  conversation: string;
  step: number;
  seen: SeenRequest;
}

/** Sizes of network reads as they come: some hold many events, some end inside a character. */
const READS = [900, 7, 240, 61, 1400, 33, 512, 3];

/** Cuts a stream into reads that know nothing of events or characters. */
export function asReads(stream: string): Piece[] {
  const bytes = Buffer.from(stream);
  const reads: Piece[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = READS[turn % READS.length] ?? 1;
    reads.push(bytes.subarray(at, at + size));
    at += size;
  }
  return reads;
}

/** Text in the tokens that a model would send. */
export const say = (text: string): Scripted => ({ parts: [{ type: 'text', text: cut(text, 4) }] });

/** Calls, with words before them where given. */
export function use(calls: readonly CallPart[], words = ''): Scripted {
  const before = words === '' ? [] : [{ type: 'text' as const, text: cut(words, 4) }];
  return { parts: [...before, ...calls] };
}

const isList = (place: Step | readonly Step[]): place is readonly Step[] => Array.isArray(place);

/** What it counts, whatever it is asked to count. */
export const COUNTED_TOKENS = 4321;

/** The model that it lists. */
export const LISTED_MODEL = 'gpt-listed';

interface Place {
  conversation: string;
  step: number;
}

export class ScriptedModel {
  readonly played: Played[] = [];
  readonly tokenCounts: RecordedRequest[] = [];
  readonly #conversations: Conversations;
  readonly #aside: Aside;

  constructor(conversations: Conversations, aside: Aside = () => undefined) {
    this.#conversations = conversations;
    this.#aside = aside;
  }

  /** What no strict upstream would have taken, and what nobody has scripted. */
  readonly problems: string[] = [];

  /** Refuses what it does not expect with a 400: clients do not ask again, so the test ends soon. */
  readonly script: ScriptFunction = async (request, index) => {
    try {
      return await this.#answer(request, index);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.problems.push(`request ${index + 1}: ${message}`);
      return errorInDialect(400, 'invalid_request_error', `Scripted model: ${message}`)(request, index);
    }
  };

  async #answer(request: RecordedRequest, index: number): Promise<Reply> {
    if (request.path.includes('/count_tokens')) {
      this.tokenCounts.push(request);
      return json({ input_tokens: COUNTED_TOKENS });
    }
    if (request.method === 'GET')
      return json({ object: 'list', data: [{ id: LISTED_MODEL, object: 'model', owned_by: 'scripted' }] });
    const seen = readRequest(request);
    checkRequest(seen);
    const scripted = this.#aside(seen) ?? this.#next(seen);
    const answer = typeof scripted === 'function' ? await scripted(seen) : scripted;
    if ('kind' in answer) return answer;
    return inDialect(this.#numbered(answer), { pieces: asReads })(request, index);
  }

  #next(seen: SeenRequest): Step {
    const { conversation, step } = this.#placeOf(seen);
    const what = `step ${step + 1} of "${conversation}"`;
    const before = this.played.filter((each) => each.conversation === conversation && each.step === step);
    this.played.push({ conversation, step, seen });
    const place = this.#conversations[conversation]?.[step];
    if (place === undefined) throw new Error(`there is no ${what}`);
    const scripted = isList(place) ? place[before.length] : place;
    if (scripted === undefined || (scripted === place && before.length > 0))
      throw new Error(`${what} was asked for again`);
    return scripted;
  }

  /** The requests of one conversation, in order. */
  requestsOf(conversation: string): SeenRequest[] {
    return this.played.filter((each) => each.conversation === conversation).map(({ seen }) => seen);
  }

  /** `prompt#step` of all that was played. */
  get order(): string[] {
    return this.played.map(({ conversation, step }) => `${conversation}#${step + 1}`);
  }

  /** The steps that nobody has asked for. */
  get left(): string[] {
    const played = new Set(this.order);
    return Object.entries(this.#conversations)
      .flatMap(([name, steps]) => steps.map((_, step) => `${name}#${step + 1}`))
      .filter((each) => !played.has(each));
  }

  /** Every answer has its own id: clients put messages of one id together. */
  #numbered(answer: Scripted): Scripted {
    const number = this.played.length;
    return { id: `answer_${number}`, usage: { input: 1000 + 10 * number, output: 50 }, ...answer };
  }

  /** The last prompt that is known; a turn may hold several, as some wires put them together. */
  #placeOf({ turns, recorded }: SeenRequest): Place {
    let answered = 0;
    for (const turn of turns.toReversed()) {
      if (turn.role === 'assistant') answered += 1;
      if (turn.role !== 'user') continue;
      const text = turn.texts.join('\n');
      const [last] = Object.keys(this.#conversations)
        .map((conversation) => ({ conversation, at: text.lastIndexOf(conversation) }))
        .filter(({ at }) => at >= 0)
        .toSorted((a, b) => b.at - a.at);
      if (last !== undefined) return { conversation: last.conversation, step: answered };
    }
    throw new Error(`no script answers this request: ${recorded.text.slice(-600)}`);
  }
}

/** The answer as a stream that stops in its middle until the test opens `hold`. */
export function heldAfter(
  answer: Scripted,
  hold: Gate,
  events: number,
): (seen: SeenRequest) => Promise<Reply> {
  return async ({ recorded }) => {
    const reply = await inDialect(answer)(recorded, 0);
    if (reply.kind !== 'answer') return reply;
    const body = [...reply.body.slice(0, events), hold, ...reply.body.slice(events)];
    return { ...reply, body } satisfies AnswerReply;
  };
}
