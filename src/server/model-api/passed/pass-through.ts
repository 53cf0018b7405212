/**
 * Routes beside turns whose body names a model: they go to the model's upstream in the client's own bytes,
 * and what the upstream says comes back as it is. Keys, limits, usage and traces are those of every request.
 */
import { createHash } from 'node:crypto';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import type { WireHeaders } from '../../../dialects/shared/dialect.js';
import type { Answer, ModelPass } from '../../../engines/engine.js';
import { spliceModel } from '../../../engines/relay/splice-model.js';
import type { Access } from '../../access/auth.js';
import type { Exchange } from '../../http/exchange.js';
import { parseJsonBody } from '../../http/json-body.js';
import { clientHeaders, readBody } from '../../http/read-request.js';
import { baseHeaders } from '../../http/respond.js';
import type { HttpRoute } from '../../http/route-table.js';
import { SseWriter } from '../../http/sse-writer.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { findFormModel, isForm, readForm, withFormModel } from '../requests/multipart-form.js';
import {
  keepsThings,
  mayName,
  type Reference,
  referencesIn,
  referencesInForm,
  refuseKnown,
} from '../requests/references.js';
import { streamBytes } from '../requests/stream-answer.js';

/** With the model that a request without one means. */
const ROUTES: Readonly<Record<string, { model?: string }>> = {
  '/embeddings': {},
  '/completions': {},
  '/images/generations': {},
  '/images/edits': {},
  '/images/variations': {},
  '/audio/speech': {},
  '/audio/transcriptions': {},
  '/audio/translations': {},
  '/moderations': { model: 'omni-moderation-latest' },
  '/rerank': {},
};

const CALL: Access = { area: 'models', scope: 'call' };

export const PASS_ROUTES: readonly HttpRoute<ModelApiContext>[] = Object.entries(ROUTES).map(
  ([path, { model }]) => ({
    method: 'POST',
    path: `/v1${path}`,
    access: CALL,
    handle: passModel(path, model),
  }),
);

/** Of text, and of what is no text. */
const BYTES_A_TOKEN = { json: 4, form: 1000 } as const;

function passModel(path: string, usual: string | undefined): ModelApiHandler {
  return async (exchange, context) => {
    exchange.traced = true;
    exchange.recorder = context.sampler?.begin();
    const { headers } = exchange;
    const contentType = headers['content-type'] ?? 'application/json';
    const raw = await readBody(exchange, context.limits, context.limits.bodyBytes);
    const named = isForm(contentType)
      ? namedInForm(raw, contentType, context)
      : namedInJson(raw, contentType, context, usual, exchange.principal.models.includes('*'));
    await refuseKnown(named.references, exchange, context);
    const own = clientHeaders(headers);
    exchange.recorder?.inbound(exchange.path, own, named.recorded);
    exchange.facts.model = named.model.slice(0, 200);
    exchange.facts.stream = named.stream;
    const { dispatcher } = context;
    const asked = dispatcher.pass?.({
      ...{ method: 'POST', path, query: exchange.query, headers: passedHeaders(exchange), contentType },
      ...{ principal: exchange.principal, signal: exchange.signal },
      ...(exchange.recorder === undefined ? {} : { trace: exchange.recorder }),
      ...named,
    });
    if (asked === undefined) throw new GatewayError('not_found', `There is no POST ${exchange.path}.`);
    await sendPassed(exchange, context, await exchange.untilAborted(asked));
  };
}

interface Named extends Pick<ModelPass, 'model' | 'bodyFor' | 'estimate'> {
  stream: boolean;
  /** Where keys share what an upstream keeps. */
  references: readonly Reference[];
  recorded: Buffer;
}

function namedInForm(raw: Buffer, contentType: string, context: ModelApiContext): Named {
  const parts = readForm(raw, contentType);
  const found = findFormModel(raw, parts);
  if (found === undefined) throw noModel();
  return {
    model: found.model,
    stream: false,
    references: keepsThings(context) ? referencesInForm(raw, parts, context.limits.jsonDepth) : [],
    estimate: Math.ceil(raw.length / BYTES_A_TOKEN.form),
    recorded: recordedBody(raw, contentType),
    bodyFor: (model) => withFormModel(raw, found, model),
  };
}

function namedInJson(
  raw: Buffer,
  contentType: string,
  context: ModelApiContext,
  usual: string | undefined,
  isTrusted: boolean,
): Named {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType)) {
    throw new GatewayError(
      'unsupported_media_type',
      'The content type is neither JSON nor a form. Send "application/json" or "multipart/form-data".',
    );
  }
  const body: unknown = parseJsonBody(raw, context.limits.jsonDepth);
  const model = isObject(body) ? (body['model'] ?? usual) : undefined;
  if (!isObject(body) || typeof model !== 'string' || model === '') throw noModel();
  const names = keepsThings(context) && mayName(raw);
  return {
    model,
    stream: body['stream'] === true,
    references: names ? referencesIn(body) : [],
    estimate: Math.ceil(raw.length / BYTES_A_TOKEN.json),
    recorded: raw,
    bodyFor(name) {
      if (isTrusted && name === body['model'] && !names) return raw;
      // A key that may not call every model gets a body that names one model, however it is read.
      const others = Object.entries(body).filter(([key]) => key.toLowerCase() !== 'model');
      // A field that stands twice is read in one way: what was checked is what is sent.
      const spliced = names ? undefined : spliceModel(raw, name);
      return spliced ?? Buffer.from(JSON.stringify({ ...Object.fromEntries(others), model: name }));
    },
  };
}

/**
 * The headers of a request for an upstream. All keys share the account there: under an `Idempotency-Key` that
 * two of them send, the second would get what was made for the first, so each key has names of its own.
 */
export function passedHeaders({ headers, principal }: Exchange): WireHeaders {
  const own = clientHeaders(headers);
  const { [IDEMPOTENCY_KEY]: key } = own;
  if (key === undefined) return own;
  const digest = createHash('sha256')
    .update(JSON.stringify([principal.name, key]))
    .digest('base64url');
  return { ...own, [IDEMPOTENCY_KEY]: digest };
}

const IDEMPOTENCY_KEY = 'idempotency-key';

/** Recordings are texts; files and sound would only fill them. */
export function recordedBody(body: Buffer | Uint8Array | undefined, contentType = ''): Buffer {
  if (body === undefined || /\bjson\b/.test(contentType)) return Buffer.from(body ?? []);
  return Buffer.from(`[${body.length} bytes of ${contentType.split(';')[0]}]`);
}

function noModel(): GatewayError {
  return new GatewayError('invalid_request', 'model: expected the name of a model.', { param: 'model' });
}

/** It comes from an upstream and is served from the console's origin: a browser shows it as nothing of ours. */
const PASSED_HEADERS = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cache-control': 'no-store',
};

export function bodyOf({ body }: Answer): Extract<Answer['body'], { kind: 'bytes' }> {
  if (body.kind !== 'bytes') throw new Error('What is passed on is bytes.');
  return body;
}

/** What is kept repeats its figures whenever it is looked at: a batch would count with every look. */
export function withoutUsage(answer: Answer): Answer {
  return { ...answer, body: { ...bodyOf(answer), usage: () => undefined } };
}

/** The upstream's own answer, named. */
export async function sendPassed(
  exchange: Exchange,
  context: ModelApiContext,
  answer: Answer,
): Promise<void> {
  const { upstream, price, headers } = answer;
  const body = bodyOf(answer);
  const { facts } = exchange;
  facts.upstream = upstream;
  if (price !== undefined) facts.price = price;
  const writer = new SseWriter(exchange.response, body.status, {
    ...baseHeaders(exchange),
    ...headers,
    ...PASSED_HEADERS,
    'x-toolgate-upstream': upstream,
    'content-type': body.contentType,
  });
  await streamBytes(exchange, context, writer, body, undefined);
}
