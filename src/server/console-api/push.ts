/** `/api/push`: browsers that a key has subscribed, and what is pressed in their notifications. */
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import { pushSubscriptionSchema } from '../../notify/delivery/push-subscriptions.js';
import { sendJson } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import { readJson } from './request.js';
import type { BrowsersWire } from './wire/push.js';

const pressSchema = z.looseObject({
  delivery: z.string({ error: 'expected the id of a message' }).max(100),
  choice: z.enum(['allow', 'deny'], { error: 'expected "allow" or "deny"' }),
  proof: z.string({ error: 'expected the proof of the button' }).max(100),
});

export const listBrowsers: ConsoleApiHandler = async (exchange, { notifier: { push } }) => {
  const [public_key, own] = [await push.publicKey(), await push.list(exchange.principal.name)];
  const data = own.map(({ id, endpoint, createdAt }) => {
    return { id, endpoint, created_at: new Date(createdAt).toISOString() };
  });
  const body: BrowsersWire = { public_key, data };
  sendJson(exchange, 200, body, { 'cache-control': 'no-store' });
};

export const addBrowser: ConsoleApiHandler = async (exchange, context) => {
  const subscription = await readJson(exchange, context, pushSubscriptionSchema);
  sendJson(exchange, 201, { id: await context.notifier.subscribe(exchange.principal.name, subscription) });
};

export const removeBrowser: ConsoleApiHandler = async (exchange, { notifier }, { id = '' }) => {
  const isRemoved = await notifier.push.remove(id, exchange.principal.name);
  if (!isRemoved) throw new GatewayError('not_found', 'There is no such browser.');
  exchange.response.writeHead(204).end();
};

/** The service worker has no sign-in: the proof in the notification, which only this browser could read, stands for it. */
export const answerFromBrowser: ConsoleApiHandler = async (exchange, context) => {
  const press = await readJson(exchange, context, pressSchema);
  const { accepted, text } = await context.notifier.answerPush(press);
  sendJson(exchange, accepted ? 200 : 409, { text });
};
