/** `/api/notify`: how targets do, a test message, and the answers that providers bring. */
import { readBody } from '../http/read-request.js';
import { sendJson } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import type { TargetWire } from './wire/notify.js';

const NO_STORE = { 'cache-control': 'no-store' };
/** An answer is a few hundred bytes; Slack sends the whole message with it. */
const ANSWER_BYTES = 65_536;

export const listTargets: ConsoleApiHandler = async (exchange, { notifier }) => {
  const data = (await notifier.status()).map(
    ({ target, type, waiting, failed, lastSentAt, failing }): TargetWire => ({
      ...{ name: target, type, waiting, failed, failing: failing ?? null },
      last_sent_at: lastSentAt === undefined ? null : new Date(lastSentAt).toISOString(),
    }),
  );
  sendJson(exchange, 200, { data }, NO_STORE);
};

export const testTarget: ConsoleApiHandler = async (exchange, { notifier }, { target = '' }) => {
  sendJson(exchange, 202, { id: await notifier.test(target, exchange.principal.name) });
};

/** Who it is, the provider's signature says. */
export const answerFromProvider: ConsoleApiHandler = async (exchange, context, { target = '' }) => {
  const { notifier, limits } = context;
  const body = await readBody(exchange, limits, ANSWER_BYTES);
  const { headers } = exchange.request;
  const reply = await notifier.answer(target, { headers, body: body.toString('utf8') });
  sendJson(exchange, reply.status, reply.body, NO_STORE);
};
