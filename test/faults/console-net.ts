/**
 * The way between a page of the console and the gateway, on which everything goes wrong that can:
 * requests and answers are dropped, delayed, repeated and overtaken, event by event, and connections
 * are cut. One seed, one sequence of faults.
 */
import type { Random } from './random.js';

/** How often each happens, of one. */
const FAULTS = {
  requestLost: 0.08,
  answerLost: 0.1,
  sentTwice: 0.08,
  /** A copy that arrives long after. */
  sentLate: 0.05,
  eventLost: 0.03,
  eventTwice: 0.06,
  eventOvertaken: 0.06,
  streamCut: 0.02,
  refused: 0.05,
} as const;

/** Which chance of a fault is always taken: by then there is something to break. */
const SURELY = 2;
const LONGEST_MS = 25;
const LATE_MS = 300;
/** Events behind a lost one that may be on their way to a reader who is about to notice. */
const ON_THE_WAY = 8;

export class FaultNet {
  readonly counts: Record<string, number> = {};
  /** Lost events whose readers went on as if nothing were missing. */
  readonly unnoticed: string[] = [];
  readonly #asked: Partial<Record<keyof typeof FAULTS, number>> = {};
  readonly #random: Random;
  readonly #origin: () => string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #late = new Set<Promise<unknown>>();
  #calm = false;

  /** `origin`: where the gateway is now; undefined while there is none. */
  constructor(random: Random, origin: () => string | undefined, headers: Readonly<Record<string, string>>) {
    this.#random = random;
    this.#origin = origin;
    this.#headers = headers;
  }

  /** From now on everything arrives. Resolves when what was late has arrived too. */
  async calm(): Promise<void> {
    this.#calm = true;
    await Promise.allSettled(this.#late);
  }

  readonly fetch = async (path: string, init: RequestInit): Promise<Response> => {
    await this.#delay();
    if (this.#happens('requestLost')) throw new TypeError('lost on the way there');
    if (path.startsWith('/api/events')) return this.#stream(await this.#send(path, init));
    if (this.#happens('sentTwice')) await this.#send(path, init).catch(() => undefined);
    if (this.#happens('sentLate')) this.#sendLate(path, init);
    const answer = await this.#send(path, init);
    if (this.#happens('answerLost')) {
      await answer.body?.cancel();
      throw new TypeError('lost on the way back');
    }
    await this.#delay();
    return answer;
  };

  #send(path: string, init: RequestInit): Promise<Response> {
    const origin = this.#origin();
    if (origin === undefined) throw new TypeError('nobody is there');
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.#headers)) headers.set(name, value);
    return fetch(`${origin}${path}`, { ...init, headers });
  }

  #sendLate(path: string, { signal: _, ...init }: RequestInit): void {
    const sent = wait(this.#random.between(LONGEST_MS, LATE_MS))
      .then(() => this.#send(path, init))
      .then((answer) => answer.body?.cancel())
      .catch(() => undefined)
      .finally(() => this.#late.delete(sent));
    this.#late.add(sent);
  }

  #stream(answer: Response): Response {
    if (answer.body === null || !answer.headers.get('content-type')?.startsWith('text/event-stream'))
      return answer;
    if (this.#happens('refused')) {
      void answer.body.cancel();
      return new Response('{}', { status: 502 });
    }
    const { readable, writable } = new TransformStream<string, string>();
    void this.#disturb(answer.body, writable);
    return new Response(readable.pipeThrough(new TextEncoderStream()), answer);
  }

  async #disturb(body: ReadableStream<Uint8Array>, writable: WritableStream<string>): Promise<void> {
    const writer = writable.getWriter();
    let held: string | undefined;
    let lost: { frame: string; since: number } | undefined;
    try {
      for await (const frame of framesOf(body)) {
        await this.#delay();
        if (this.#happens('streamCut')) break;
        if (this.#happens('eventLost')) {
          // How long to wait before connecting again is no event.
          if (frame.includes('data:')) lost ??= { frame, since: 0 };
          continue;
        }
        if (held === undefined && this.#happens('eventOvertaken')) {
          held = frame;
          continue;
        }
        await writer.write(frame);
        if (lost !== undefined && lost.since++ === ON_THE_WAY) this.unnoticed.push(lost.frame);
        if (this.#happens('eventTwice')) await writer.write(frame);
        if (held === undefined) continue;
        await writer.write(held);
        held = undefined;
      }
      await writer.close();
    } catch {
      // The reader has gone, or the gateway has.
      await writer.abort().catch(() => undefined);
    }
  }

  async #delay(): Promise<void> {
    if (!this.#calm && this.#random.chance(0.5)) await wait(this.#random.between(0, LONGEST_MS));
  }

  #happens(fault: keyof typeof FAULTS): boolean {
    if (this.#calm) return false;
    this.#asked[fault] = (this.#asked[fault] ?? 0) + 1;
    // Each happens once for certain, the rest by chance.
    if (this.#asked[fault] !== SURELY && !this.#random.chance(FAULTS[fault])) return false;
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
    return true;
  }
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const frames = rest.split(/(?<=\n\n)/);
    rest = frames.at(-1)?.endsWith('\n\n') === true ? '' : (frames.pop() ?? '');
    yield* frames;
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
