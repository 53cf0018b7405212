/** Says something, and goes on with what broke off. The turn is the gateway's: nobody has to wait for it. */

import { NO_STORE, sendJson } from '../http/respond.js';
import { chatBody } from './chat/chat-request.js';
import type { ConsoleApiHandler } from './context.js';
import { findSession } from './find-session.js';
import { readJson } from './json-request.js';

export const startChat: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, chatBody, context.limits.bodyBytes);
  const started = await context.chat.start(body, exchange.principal);
  sendJson(exchange, 202, started, NO_STORE);
};

export const resumeSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  sendJson(exchange, 202, await context.chat.resume(id), NO_STORE);
};
