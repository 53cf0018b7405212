/**
 * Random frames on WebSockets of `/v1/responses`: good requests among broken messages and broken frames,
 * cut at any byte. Every good request that came before the break is answered; every answer is an event that
 * belongs to its lane; the gateway serves on, with nothing left of those who broke off.
 */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { openResponsesSocket, type ResponsesSocketClient } from '../support/responses-socket.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { textAnswer } from '../support/wire.js';
import { count, SEED, TIMEOUT_MS } from './counts.js';
import { metric } from './fault-gateway.js';
import { Random } from './random.js';

const CONNECTIONS = count(60, 3000);
const BODY_LIMIT_MB = 1;

/** A message, and whether it is a request that must be answered with a response. */
interface Made {
  message: string | Buffer;
  good: boolean;
}

/** Empty: without a name. */
const LANES = ['', '', 'a', 'b', 'c.d-e_f'] as const;

function goodMessage(random: Random): Made {
  const lane = random.pick(LANES);
  const message = JSON.stringify({
    type: 'response.create',
    model: 'm',
    store: random.chance(0.5),
    input: random.chance(0.5) ? random.text(1, 8) : [{ role: 'user', content: random.text(1, 8) }],
    ...(lane === '' ? {} : { stream_id: lane }),
    ...(random.chance(0.1) ? { generate: false } : {}),
  });
  return { message, good: true };
}

const WRONG_VALUES: readonly unknown[] = [null, 0, -1, '', 'x', [], {}, true, [[]], '\u0000'];

function brokenMessage(random: Random): Made {
  const body: Record<string, unknown> = { type: 'response.create', model: 'm', input: 'q' };
  switch (random.below(6)) {
    case 0:
      return { message: random.text(0, 12), good: false };
    case 1: {
      const text = JSON.stringify(body);
      return { message: text.slice(0, random.between(1, text.length - 1)), good: false };
    }
    case 2:
      return { message: Buffer.from(random.list(0, 60, () => random.below(256))), good: false };
    case 3:
      return { message: JSON.stringify({ ...body, type: random.pick(WRONG_VALUES) }), good: false };
    case 4:
      return { message: JSON.stringify({ ...body, model: random.pick([null, 0, '', [], {}]) }), good: false };
    default:
      return {
        message: JSON.stringify({ ...body, previous_response_id: `resp_${random.text(1, 4)}x` }),
        good: false,
      };
  }
}

/** What a client of the protocol never sends; the connection ends of it. */
const brokenFrame = (random: Random): Buffer => Buffer.from(random.list(1, 200, () => random.below(256)));

async function converse(socket: ResponsesSocketClient, random: Random): Promise<void> {
  const sent = random.list(1, 8, () => (random.chance(0.5) ? goodMessage(random) : brokenMessage(random)));
  for (const { message } of sent) socket.send(message);
  const breaks = random.chance(0.3);
  if (breaks) {
    const raw: unknown = Reflect.get(socket.webSocket, '_socket');
    if (typeof raw === 'object' && raw !== null && 'write' in raw && typeof raw.write === 'function') {
      raw.write(brokenFrame(random));
    }
    if (random.chance(0.5)) socket.webSocket.terminate();
    else socket.webSocket.close();
    await socket.closed;
  } else {
    const ends = ({ type }: { type?: unknown }) => type === 'response.completed' || type === 'error';
    for (let ended = 0; ended < sent.length; ) if (ends(await socket.next())) ended += 1;
    const completed = socket.messages.filter(({ type }) => type === 'response.completed');
    expect(completed).toHaveLength(sent.filter(({ good }) => good).length);
    socket.webSocket.close();
    await socket.closed;
  }
  for (const event of socket.messages) {
    expect(typeof event['type']).toBe('string');
    if (event['type'] === 'error') expect(event['status']).toBeLessThan(500);
    if ('stream_id' in event) expect(LANES).toContain(event['stream_id']);
  }
}

describe('random frames', () => {
  it(
    `of ${CONNECTIONS} connections (seed ${SEED}) lose nothing and leave nothing`,
    async () => {
      const upstream = await startUpstream(inDialect(textAnswer('Yes.')));
      const gateway = await startTestGateway({
        config: {
          server: { body_limit_mb: BODY_LIMIT_MB },
          upstreams: { theirs: upstream.config('openai-chat') },
          models: { m: { upstream: 'theirs' } },
        },
      });
      for (let index = 0; index < CONNECTIONS; index++) {
        const random = new Random(SEED + index);
        await converse(await openResponsesSocket(gateway.url), random).catch((error: unknown) => {
          throw new Error(`seed ${SEED + index}`, { cause: error });
        });
      }
      // The request for the figures is one itself.
      await until(async () => (await metric(gateway.url, 'toolgate_open_requests')) <= 1);
      const socket = await openResponsesSocket(gateway.url);
      expect((await socket.ask({ model: 'm', input: 'q' })).at(-1)).toMatchObject({
        type: 'response.completed',
      });
    },
    TIMEOUT_MS,
  );
});
