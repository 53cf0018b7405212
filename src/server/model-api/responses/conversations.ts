/** `/v1/conversations`: what was said, kept by the gateway for the key that made it, for any model. */
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import type { Access } from '../../access/auth.js';
import type { Exchange } from '../../http/exchange.js';
import { parseJsonBody } from '../../http/json-body.js';
import { checkContentType, readBody } from '../../http/read-request.js';
import { sendJson } from '../../http/respond.js';
import type { HttpRoute } from '../../http/route-table.js';
import {
  type ConversationItem,
  changeConversation,
  createConversation,
  findConversation,
  forgetConversation,
  type KeptConversation,
  unknownConversation,
  withIds,
} from '../memory/conversation-memory.js';
import { withoutEncrypted } from '../memory/response-items.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { listOf, pageOf, wantsEncrypted } from './item-pages.js';

/** As at OpenAI. */
const LIMITS = { items: 20, metadata: 16, keyChars: 64, valueChars: 512 } as const;

const create: ModelApiHandler = async (exchange, context) => {
  const body = await readFields(exchange, context);
  const items = body['items'] === undefined || body['items'] === null ? [] : readItems(body['items']);
  const { name } = exchange.principal;
  const id = await createConversation(name, readMetadata(body['metadata'] ?? {}), context.answers);
  if (items.length > 0) await changeConversation(id, name, { items: withIds(items) }, context.answers);
  sendJson(exchange, 200, shown(await found(exchange, context, id)));
};

const retrieve: ModelApiHandler = async (exchange, context, { id = '' }) =>
  sendJson(exchange, 200, shown(await found(exchange, context, id)));

const update: ModelApiHandler = async (exchange, context, { id = '' }) => {
  await found(exchange, context, id);
  const { metadata } = await readFields(exchange, context);
  const change = { metadata: readMetadata(metadata ?? {}) };
  await changeConversation(id, exchange.principal.name, change, context.answers);
  sendJson(exchange, 200, shown(await found(exchange, context, id)));
};

const remove: ModelApiHandler = async (exchange, context, { id = '' }) => {
  if (!(await forgetConversation(id, exchange.principal.name, context.answers)))
    throw unknownConversation(id);
  sendJson(exchange, 200, { id, object: 'conversation.deleted', deleted: true });
};

const listItems: ModelApiHandler = async (exchange, context, { id = '' }) => {
  const { items } = await found(exchange, context, id);
  const query = new URLSearchParams(exchange.query);
  sendJson(exchange, 200, pageOf(items.map(showing(query)), query));
};

const addItems: ModelApiHandler = async (exchange, context, { id = '' }) => {
  await found(exchange, context, id);
  const body = await readFields(exchange, context);
  const items = withIds(readItems(body['items']));
  await changeConversation(id, exchange.principal.name, { items }, context.answers);
  const query = new URLSearchParams(exchange.query);
  sendJson(exchange, 200, listOf(items.map(showing(query))));
};

const getItem: ModelApiHandler = async (exchange, context, { id = '', item = '' }) => {
  const { items } = await found(exchange, context, id);
  sendJson(exchange, 200, showing(new URLSearchParams(exchange.query))(itemOf(items, item)));
};

const removeItem: ModelApiHandler = async (exchange, context, { id = '', item = '' }) => {
  itemOf((await found(exchange, context, id)).items, item);
  await changeConversation(id, exchange.principal.name, { removed: item }, context.answers);
  sendJson(exchange, 200, shown(await found(exchange, context, id)));
};

async function found(
  { principal }: Exchange,
  { answers }: ModelApiContext,
  id: string,
): Promise<KeptConversation> {
  const conversation = await findConversation(id, principal.name, answers);
  if (conversation === undefined) throw unknownConversation(id);
  return conversation;
}

function itemOf(items: readonly ConversationItem[], id: string): ConversationItem {
  const item = items.find((each) => each.id === id);
  if (item !== undefined) return item;
  throw new GatewayError(
    'not_found',
    `There is no item ${JSON.stringify(id.slice(0, 100))} in this conversation. List them with GET …/items.`,
    { param: 'item_id', detail: 'item_not_found' },
  );
}

function shown({ id, createdAt, metadata }: KeptConversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata };
}

function showing(query: URLSearchParams): (item: ConversationItem) => JsonObject {
  const encrypted = wantsEncrypted(query);
  return ({ id, item }) => {
    const whole = { type: 'message', status: 'completed', ...item, id, ...partsOf(item) };
    return encrypted ? whole : withoutEncrypted(whole);
  };
}

/** A message that was written as a text has parts like any other. */
function partsOf({ role, content }: JsonObject): JsonObject {
  if (typeof content !== 'string') return {};
  if (role === 'assistant') return { content: [{ type: 'output_text', text: content, annotations: [] }] };
  return { content: [{ type: 'input_text', text: content }] };
}

async function readFields(exchange: Exchange, { limits }: ModelApiContext): Promise<JsonObject> {
  const raw = await readBody(exchange, limits, limits.bodyBytes);
  if (raw.length === 0) return {};
  checkContentType(exchange.headers['content-type']);
  const body = parseJsonBody(raw, limits.jsonDepth);
  if (isObject(body)) return body;
  throw new GatewayError('invalid_request', 'The body is no JSON object.');
}

/** Throws where a turn could not be made of them. */
function readItems(value: unknown): JsonObject[] {
  const items = Array.isArray(value) ? value.filter(isObject) : [];
  if (!Array.isArray(value) || items.length !== value.length || items.length === 0) {
    throw new GatewayError('invalid_request', 'items: expected a list of at least one item.', {
      param: 'items',
    });
  }
  if (items.length > LIMITS.items) {
    throw new GatewayError(
      'invalid_request',
      `items: expected at most ${LIMITS.items} at once. Send the others with further requests.`,
      { param: 'items' },
    );
  }
  const { continues } = openaiResponses.ingress.decodeRequest({ model: 'any', input: items });
  if (continues === undefined) return items;
  throw new GatewayError('invalid_request', 'items: an item_reference is no item. Send the item itself.', {
    param: 'items',
  });
}

function readMetadata(value: unknown): JsonObject {
  const entries = isObject(value) ? Object.entries(value) : undefined;
  const isFine = entries?.every(
    ([key, each]) =>
      key.length <= LIMITS.keyChars && typeof each === 'string' && each.length <= LIMITS.valueChars,
  );
  if (entries !== undefined && isFine && entries.length <= LIMITS.metadata)
    return Object.fromEntries(entries);
  throw new GatewayError(
    'invalid_request',
    `metadata: expected at most ${LIMITS.metadata} texts, names of up to ${LIMITS.keyChars} and values of up to ${LIMITS.valueChars} characters.`,
    { param: 'metadata' },
  );
}

const CALL: Access = { area: 'models', scope: 'call' };

export const CONVERSATION_ROUTES: readonly HttpRoute<ModelApiContext>[] = [
  { method: 'POST', path: '/v1/conversations', access: CALL, handle: create },
  { method: 'GET', path: '/v1/conversations/:id', access: CALL, handle: retrieve },
  { method: 'POST', path: '/v1/conversations/:id', access: CALL, handle: update },
  { method: 'DELETE', path: '/v1/conversations/:id', access: CALL, handle: remove },
  { method: 'GET', path: '/v1/conversations/:id/items', access: CALL, handle: listItems },
  { method: 'POST', path: '/v1/conversations/:id/items', access: CALL, handle: addItems },
  { method: 'GET', path: '/v1/conversations/:id/items/:item', access: CALL, handle: getItem },
  { method: 'DELETE', path: '/v1/conversations/:id/items/:item', access: CALL, handle: removeItem },
];
