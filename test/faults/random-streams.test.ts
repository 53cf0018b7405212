/**
 * Random streams of every upstream dialect to clients of every dialect: valid ones arrive as they
 * were meant, however they are cut, and no other one makes an invalid stream or an exception.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { GatewayError } from '../../src/core/errors.js';
import { type Part, piecesOf, type Scripted } from '../support/scripted.js';
import { count, SEED, TIMEOUT_MS } from './counts.js';
import { collect, decodeStream, encodeStream, encodeWhole, namesFor } from './pipeline.js';
import { Random } from './random.js';
import { randomAnswer } from './random-answer.js';
import { breakBytes, breakFrames, framed } from './stream-faults.js';
import { type Said, WIRES, type Wire } from './wires.js';

/** The captured streams of a dialect. */
function fixturesOf(dialect: DialectName): { name: string; bytes: Buffer }[] {
  const folder = fileURLToPath(new URL(`../../src/dialects/${dialect}/fixtures`, import.meta.url));
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sse'))
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}

const PAIRS = WIRES.flatMap((upstream) => WIRES.map((client) => ({ upstream, client })));

/** A failure says how to see it again. */
function inCase(seed: number, what: () => string, check: () => void): void {
  try {
    check();
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`Seed ${seed} (${what()}): ${message}`, { cause: error });
  }
}

const texts = (parts: readonly Part[], type: 'text' | 'thinking'): string =>
  parts.flatMap((part) => (part.type === type ? piecesOf(part.text) : [])).join('');

/** What a client should hold of a valid answer. */
function meant({ parts }: Scripted): Omit<Said, 'stop' | 'failed'> {
  return {
    text: texts(parts, 'text'),
    thinking: texts(parts, 'thinking'),
    calls: parts.flatMap((part) =>
      part.type === 'call'
        ? [{ id: part.id, name: part.name, input: JSON.parse(piecesOf(part.arguments).join('')) }]
        : [],
    ),
  };
}

function validStream(upstream: Wire, random: Random): { scripted: Scripted; bytes: Buffer } {
  const scripted = randomAnswer(random);
  return { scripted, bytes: framed(upstream.frames(scripted, random.chance(0.3)), random) };
}

/** Everything that is sent through the pipeline: one failure here would be a failure for a client. */
function streamsOf(upstream: Wire, client: Wire, bytes: Buffer, random: Random): string {
  const request = random.pick(client.requests);
  const reads = random.cuts(bytes, random.between(1, 8));
  const batches = decodeStream(upstream.dialect, namesFor(upstream.dialect, request), reads);
  encodeWhole(client.dialect, request, batches);
  return encodeStream(client.dialect, request, batches);
}

describe.each(PAIRS)('$upstream.name to $client.name', ({ upstream, client }) => {
  const [request] = client.requests;
  const names = namesFor(upstream.dialect, request);

  it('carries valid answers as they were meant, streamed and whole', { timeout: TIMEOUT_MS }, () => {
    for (let index = 0; index < count(80, 5000); index++) {
      const seed = SEED + index;
      const random = new Random(seed);
      const { scripted, bytes } = validStream(upstream, random);
      inCase(
        seed,
        () => JSON.stringify(scripted),
        () => {
          const batches = decodeStream(upstream.dialect, names, [bytes]);
          const streamed = client.accept(encodeStream(client.dialect, request, batches));
          expect(streamed).toMatchObject({ ...meant(scripted), failed: false });

          const collected = encodeWhole(client.dialect, request, batches);
          if (collected instanceof GatewayError) throw collected;
          expect(client.read(collected)).toEqual(streamed);

          const whole = upstream.dialect.egress.decodeResponse(upstream.whole(scripted), names);
          const answered = encodeWhole(client.dialect, request, [whole]);
          if (answered instanceof GatewayError) throw answered;
          expect(client.read(answered)).toEqual(streamed);
        },
      );
    }
  });

  it('makes a valid stream of any other', { timeout: TIMEOUT_MS }, () => {
    for (let index = 0; index < count(250, Math.ceil(100_000 / PAIRS.length)); index++) {
      const seed = SEED + index;
      const random = new Random(seed);
      const scripted = randomAnswer(random);
      const good = upstream.frames(scripted, random.chance(0.5));
      const other = () => upstream.frames(randomAnswer(random), false);
      const { frames, faults } = breakFrames(good, random, other);
      const whole = framed(frames, random);
      const bytes = random.chance(0.3) ? breakBytes(whole, random) : whole;
      inCase(
        seed,
        () => `${faults}: ${bytes.toString('latin1')}`,
        () => {
          client.accept(streamsOf(upstream, client, bytes, random));
        },
      );
    }
  });
});

describe.each(WIRES)('$name in any cutting', (upstream) => {
  const [request] = upstream.requests;
  const names = namesFor(upstream.dialect, request);
  const flat = (reads: readonly Buffer[]) => decodeStream(upstream.dialect, names, reads).flat();
  /** An error is a new object each time; what it says must be the same. */
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (_, each: unknown) =>
        each instanceof GatewayError ? { code: each.code, message: each.message } : each,
      ),
    );

  it('gives the same events', { timeout: TIMEOUT_MS }, () => {
    for (let index = 0; index < count(80, 5000); index++) {
      const seed = SEED + index;
      const random = new Random(seed);
      const valid = validStream(upstream, random).bytes;
      const bytes = random.chance(0.5) ? valid : breakBytes(valid, random);
      inCase(
        seed,
        () => bytes.toString('latin1'),
        () => {
          const whole = plain(flat([bytes]));
          expect(plain(flat(random.cuts(bytes, random.between(2, 40))))).toEqual(whole);
          expect(plain(flat(Array.from(bytes, (byte) => Buffer.of(byte))))).toEqual(whole);
        },
      );
    }
  });

  it.each(fixturesOf(upstream.name))('gives the same events of $name', ({ bytes }) => {
    const random = new Random(SEED);
    const whole = plain(flat([bytes]));
    expect(whole).not.toEqual([]);
    for (let round = 0; round < count(5, 100); round++) {
      expect(plain(flat(random.cuts(bytes, random.between(2, 40))))).toEqual(whole);
    }
    expect(plain(flat(Array.from(bytes, (byte) => Buffer.of(byte))))).toEqual(whole);
  });

  it('gives the same answer', { timeout: TIMEOUT_MS }, () => {
    for (let index = 0; index < count(60, 2000); index++) {
      const seed = SEED + index;
      const random = new Random(seed);
      const { bytes } = validStream(upstream, random);
      inCase(
        seed,
        () => bytes.toString('latin1'),
        () => {
          const read = (reads: readonly Buffer[]) =>
            plain(collect(request, decodeStream(upstream.dialect, names, reads)));
          expect(read(random.cuts(bytes, 9))).toEqual(read([bytes]));
        },
      );
    }
  });
});
