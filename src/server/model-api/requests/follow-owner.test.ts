import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { type AnswerPeer, PEER, startPeer } from '../../../../test/support/peer-node.js';
import { HeldElsewhere } from '../../../core/elsewhere.js';
import { GatewayError } from '../../../core/errors.js';
import type { Answer } from '../../../engines/engine.js';
import { Exchange } from '../../http/exchange.js';
import { encodePeerError, moved } from '../../http/forwarding.js';
import { followOwner } from './follow-owner.js';

const OWN: Answer = {
  ...{ upstream: 'own', losses: [], headers: {} },
  body: { kind: 'events', batches: (async function* () {})() },
};

const held = () => new HeldElsewhere('It is held.', { at: { owner: `${PEER}/lease` }, session: 's' });

/** `asks`: what asking here gives each time; the last one stays. */
async function follow(answer: AnswerPeer, ...asks: (Error | Answer)[]) {
  const { peers } = await startPeer(answer);
  const request = new IncomingMessage(new Socket());
  request.method = 'POST';
  const exchange = new Exchange({
    ...{ id: 'req_1', request, response: new ServerResponse(request), path: '/v1/messages', query: '' },
    ...{ awaitsContinue: false, encodeError: encodePeerError },
  });
  exchange.traced = true;
  exchange.principal = { name: 'alice', scopes: ['call'], models: [] };
  const followed = { body: Buffer.from('{}'), signal: exchange.signal, announce: () => {} };
  const ask = async (): Promise<Answer> => {
    const [next] = asks.length > 1 ? asks.splice(0, 1) : asks;
    if (next === undefined || next instanceof Error) throw next;
    return next;
  };
  const owners = { peers, delivered: () => {} };
  return { exchange, answered: followOwner(exchange, { owners }, followed, ask) };
}

it('declares a request a repeat once its node has gone silent over it', async () => {
  const seen: unknown[] = [];
  const { answered } = await follow(({ again }, response) => {
    seen.push(again);
    if (seen.length === 1) response.destroy();
    else response.end('{}');
  }, held());
  expect((await answered).upstream).toBe('b');
  expect(seen).toEqual([undefined, true]);
});

it('declares no repeat where the node has said that it does not have the session', async () => {
  const seen: unknown[] = [];
  const { answered } = await follow(({ again }, response) => {
    seen.push(again);
    if (seen.length === 1) response.writeHead(409).end(JSON.stringify(encodePeerError(moved(), 'r')));
    else response.end('{}');
  }, held());
  await answered;
  expect(seen).toEqual([undefined, undefined]);
});

it('leaves an error of the node to be counted there', async () => {
  const error = new GatewayError('rate_limited', 'slow down');
  const { exchange, answered } = await follow(
    (_claim, response) => void response.writeHead(429).end(JSON.stringify(encodePeerError(error, 'r'))),
    held(),
  );
  await expect(answered).rejects.toMatchObject({ code: 'rate_limited', message: 'slow down' });
  expect(exchange.traced).toBe(false);
});

it('counts an error of its own', async () => {
  const { exchange, answered } = await follow(() => {}, new GatewayError('rate_limited', 'slow down'));
  await expect(answered).rejects.toMatchObject({ code: 'rate_limited' });
  expect(exchange.traced).toBe(true);
});

it('looks again for a client that shares the answer of a forwarded request which has moved', async () => {
  const { answered } = await follow(() => {}, moved(), OWN);
  expect(await answered).toBe(OWN);
});
