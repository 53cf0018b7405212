/**
 * Answers that are stored nowhere (`store: false`), for the connection that they were given on: of each
 * lane the last one, so that its client sends only what is new. They are kept as the JSON of their items,
 * so that their size is known, and a request that goes on from one is the request that would have been
 * sent without it.
 */
import type { JsonObject } from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';
import { LossLog } from '../../../core/losses.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import { endUserIn } from './forwarded-owners.js';
import type { AnswerRecording, KeptAnswer } from './recording.js';
import { itemsOf } from './response-items.js';
import { type Recalled, type ResponseMemory, responseMemory } from './response-memory.js';

/** Everything that was said up to an answer, the answer included. */
interface LocalAnswer {
  id: string;
  /** Elements of `input`, joined by commas. */
  items: Buffer;
  /** What the first of them go on from, where that is kept elsewhere. */
  root: string | undefined;
  /** Of the end user who asked, as a digest. */
  user: string | undefined;
}

/** The answers of all connections. Each key has its own room: the answers that it used longest ago make place. */
export class LocalAnswers {
  readonly #limit: number;
  readonly #bytes = new Map<string, number>();
  /** In the order of their last use. */
  readonly #held = new Map<LocalAnswer, { principal: string; drop(): void }>();

  /** `limit` in bytes, for each key. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#held.size;
  }

  hold(answer: LocalAnswer, principal: string, drop: () => void): void {
    this.#held.set(answer, { principal, drop });
    this.#count(principal, answer.items.length);
    for (const [oldest, held] of this.#held) {
      if ((this.#bytes.get(principal) ?? 0) <= this.#limit) return;
      if (held.principal !== principal) continue;
      this.release(oldest);
      held.drop();
    }
  }

  used(answer: LocalAnswer): void {
    const held = this.#held.get(answer);
    if (held === undefined) return;
    this.#held.delete(answer);
    this.#held.set(answer, held);
  }

  release(answer: LocalAnswer): void {
    const held = this.#held.get(answer);
    if (held === undefined) return;
    this.#held.delete(answer);
    this.#count(held.principal, -answer.items.length);
  }

  #count(principal: string, bytes: number): void {
    const sum = (this.#bytes.get(principal) ?? 0) + bytes;
    if (sum === 0) this.#bytes.delete(principal);
    else this.#bytes.set(principal, sum);
  }
}

/** What one connection has of them. */
export class ConnectionAnswers {
  readonly #all: LocalAnswers;
  readonly #lanes = new Map<string, LocalAnswer>();

  constructor(all: LocalAnswers) {
    this.#all = all;
  }

  /** The answer that `body` names, where it is its end user's. */
  namedIn(body: JsonObject): LocalAnswer | undefined {
    const { previous_response_id: id } = body;
    const user = endUserIn(body);
    for (const answer of this.#lanes.values()) {
      if (answer.id !== id || answer.user !== user) continue;
      this.#all.used(answer);
      return answer;
    }
    return undefined;
  }

  put(lane: string, answer: LocalAnswer, principal: string): void {
    this.#forget(lane);
    this.#lanes.set(lane, answer);
    this.#all.hold(answer, principal, () => this.#lanes.delete(lane));
  }

  close(): void {
    for (const lane of [...this.#lanes.keys()]) this.#forget(lane);
  }

  #forget(lane: string): void {
    const answer = this.#lanes.get(lane);
    if (answer === undefined) return;
    this.#lanes.delete(lane);
    this.#all.release(answer);
  }
}

/** One request on a lane, with everything that was said before where the connection knows it. */
export class LaneRequest {
  /** As a POST would carry it. */
  readonly body: Buffer;
  readonly #answers: ConnectionAnswers;
  readonly #lane: string;
  readonly #principal: string;
  readonly #asked: Pick<LocalAnswer, 'items' | 'root' | 'user'>;
  readonly #isLocal: boolean;
  readonly #previous: string | undefined;
  /** What an upstream calls the answer that it forwards. */
  #forwarded: string | undefined;
  #isKeptAnyway = false;

  /** When its turn has come: the request before it may be what it goes on from. */
  constructor(given: JsonObject, lane: string, principal: string, answers: ConnectionAnswers) {
    const { previous_response_id: named, input, ...rest } = given;
    const previous = answers.namedIn(given);
    const items = textOf(itemsOf(input));
    const root = previous === undefined ? named : previous.root;
    this.#answers = answers;
    this.#lane = lane;
    this.#principal = principal;
    this.#isLocal = given['store'] === false;
    this.#previous = previous?.id;
    this.#asked = {
      items: previous === undefined ? items : join(previous.items, items),
      root: typeof root === 'string' && root !== '' ? root : undefined,
      user: endUserIn(given),
    };
    const head = JSON.stringify({
      ...rest,
      stream: true,
      ...(root === undefined ? {} : { previous_response_id: root }),
    });
    this.body =
      previous === undefined
        ? Buffer.from(JSON.stringify({ ...given, stream: true }))
        : Buffer.concat([
            Buffer.from(`${head.slice(0, -1)},"input":[`),
            this.#asked.items,
            Buffer.from(']}'),
          ]);
  }

  /** The answer is known to the connection alone. */
  keep(id: string, output: readonly unknown[]): void {
    const items = join(this.#asked.items, textOf(output.filter(isObject)));
    this.#answers.put(this.#lane, { ...this.#asked, id, items }, this.#principal);
  }

  /** The last event of an answer that is forwarded as it came. */
  ended(response: unknown): void {
    if (!this.#isLocal || this.#forwarded === undefined || !isObject(response)) return;
    const { id, output } = response;
    if (id !== this.#forwarded || !Array.isArray(output)) return;
    this.keep(this.#forwarded, output.filter(isReadable));
  }

  /** The answer is to be stored. */
  get isStored(): boolean {
    return !this.#isLocal;
  }

  /** Undefined where the gateway makes the answer itself. */
  get forwarded(): string | undefined {
    return this.#forwarded;
  }

  /** From now on somebody else writes down what becomes of it, also where it fails. */
  keptAnyway(): void {
    this.#isKeptAnyway = true;
  }

  /** What the endpoint remembers of it. */
  readonly memory: ResponseMemory = {
    recall: async (body, principal, context) => {
      const recalled = await responseMemory.recall(body, principal, context);
      if (this.#previous === undefined || !isObject(body)) return recalled;
      const whole = { ...(recalled?.body ?? body), $previous: this.#previous };
      return { body: whole, saysRaw: recalled === undefined } satisfies Recalled;
    },
    keep: (turn, context) => {
      const kept = responseMemory.keep(turn, context);
      if (!this.#isLocal) {
        const drop = async () => (this.#isKeptAnyway ? undefined : kept?.drop());
        return kept && { finish: (whole) => kept.finish(whole), drop };
      }
      const local = this.#record(turn);
      // A turn of a conversation is added to it, also where the answer is stored nowhere.
      return {
        finish: async (whole) => void (await Promise.all([local.finish(whole), kept?.finish(whole)])),
        drop: async () => void (await Promise.all([local.drop(), kept?.drop()])),
      };
    },
    keepForwarded: async (answer, context) => {
      this.#forwarded = answer.id;
      if (!this.#isLocal) await responseMemory.keepForwarded(answer, context);
    },
  };

  #record({ id, request, answer }: KeptAnswer): AnswerRecording {
    const form = { ...openaiResponses.ingress.answerForm?.(request), encrypted: true };
    return {
      finish: async (turn) => {
        const { output } = openaiResponses.ingress.encodeResponse(turn, { ...answer, form }, new LossLog());
        this.keep(id, Array.isArray(output) ? output : []);
      },
      drop: async () => {},
    };
  }
}

/** An upstream that stores nothing knows a thought only by what it has sealed of it. */
function isReadable(item: unknown): boolean {
  return !isObject(item) || item['type'] !== 'reasoning' || typeof item['encrypted_content'] === 'string';
}

const textOf = (items: readonly unknown[]): Buffer =>
  Buffer.from(items.map((item) => JSON.stringify(item)).join(','));

function join(before: Buffer, after: Buffer): Buffer {
  if (before.length === 0) return after;
  return after.length === 0 ? before : Buffer.concat([before, Buffer.from(','), after]);
}
