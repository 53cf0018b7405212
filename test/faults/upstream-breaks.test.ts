/**
 * An upstream that breaks at any byte of its answer: by a reset, by closing the connection, or by an
 * orderly end that comes too early. A client gets an HTTP error in its dialect, or a stream that is
 * valid up to an error event, or the whole answer where nothing of it was missing.
 */
import { describe, expect, it } from 'vitest';
import {
  answer,
  type Ending,
  type Reply,
  type ScriptFunction,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { LONG, SEED, TIMEOUT_MS } from './counts.js';
import { ask, inParallel, startFaultGateway } from './fault-gateway.js';
import { Random } from './random.js';
import { ANSWER, held, streamOf, TEXT } from './upstream-answers.js';
import { type Said, WIRES } from './wires.js';

const PAIRS = WIRES.flatMap((upstream) => WIRES.map((client) => ({ upstream, client })));
const ENDINGS: readonly Ending[] = ['reset', 'truncate', 'keep-alive'];
/** Bytes tried of each answer outside of the long run, besides its first and last ones. */
const SAMPLE = 12;

interface Break {
  offset: number;
  ending: Ending;
}

/** Where to break is said by the request itself, so that many can run at once. */
const textOf = ({ offset, ending }: Break): string => `break at ${offset} by ${ending}`;

function breakOf(text: string): Break {
  const [, offset, ending] = /break at (\d+) by ([a-z-]+)/.exec(text) ?? [];
  return { offset: Number(offset), ending: ENDINGS.find((each) => each === ending) ?? 'reset' };
}

const breaking =
  (bytes: Buffer): ScriptFunction =>
  ({ text, json: { stream } }): Reply => {
    const { offset, ending } = breakOf(text);
    // By turns in one read and in many.
    const manner = offset % 2 === 0 ? { together: true } : { writeSize: 997 };
    const options = { cutAt: offset, end: ending, ...manner };
    if (stream === true) return sse([bytes], options);
    return answer(bytes, {
      ...options,
      headers: { 'content-type': 'application/json' },
      // An orderly end has the length that it says; the others promise more than they give.
      contentLength: ending === 'keep-alive' ? offset : bytes.length,
    });
  };

describe.each(PAIRS)('$upstream.name that breaks, to $client.name', ({ upstream, client }) => {
  it.each([true, false])(
    'gives an error or the whole answer, at whichever byte it breaks (stream: %s)',
    { timeout: TIMEOUT_MS },
    async (stream) => {
      const bytes = Buffer.from(stream ? streamOf(upstream) : JSON.stringify(upstream.whole(ANSWER)));
      const server = await startUpstream(breaking(bytes));
      const { url } = await startFaultGateway({ upstreams: { up: server.config(upstream.name) } });
      const get = async (where: Break): Promise<Said> =>
        held(client, await ask(url, client, { stream, text: textOf(where) }));

      const whole = await get({ offset: bytes.length, ending: 'keep-alive' });
      expect(whole).toMatchObject({ failed: false, text: TEXT });
      expect(whole.calls).toHaveLength(2);

      const every = Array.from({ length: bytes.length }, (_, offset) => offset);
      const sample = [0, 1, bytes.length - 1, ...new Random(SEED).shuffled(every).slice(0, SAMPLE)];
      const breaks = (LONG ? every : sample).flatMap((offset) =>
        ENDINGS.map((ending) => ({ offset, ending })),
      );
      let failures = 0;
      await inParallel(breaks, 8, async (where) => {
        const before = JSON.stringify(bytes.subarray(0, where.offset).toString().slice(-80));
        const place = `${textOf(where)} of ${bytes.length}, after ${before}`;
        try {
          const got = await get(where);
          if (got.failed) failures += 1;
          else expect(got).toEqual(whole);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          throw new Error(`${place}: ${message}`, { cause: error });
        }
      });
      // Only behind the last word does a break take nothing away.
      expect(failures).toBeGreaterThan(breaks.length / 2);
      await server.whenIdle();
    },
  );
});
