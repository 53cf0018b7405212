/**
 * What servers that speak an OpenAI wire send when something fails. There is no one shape: OpenAI's
 * `{error: {…}}`, a bare string, FastAPI's `{detail}`, vLLM's `{object: "error"}`, an array around
 * it (Gemini), a page of HTML from a proxy in between; with a status, or inside a 200.
 */
import type { JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';

export interface ErrorBody {
  message: string;
  type?: string;
  code?: string;
  param?: string;
  /** A status inside the body, where the HTTP status does not say it. */
  status?: number;
  /** Figures that llama.cpp gives as fields. */
  promptTokens?: number;
  contextTokens?: number;
  /** Seconds, from Google's `RetryInfo`. */
  retryAfter?: number;
}

/** Enough for any message; a page of HTML is not one. */
const SHOWN = 2_000;

/** The error in a body whose status says that it is one. */
export function readErrorBody(body: unknown): ErrorBody | undefined {
  if (typeof body === 'string') return fromText(body);
  if (Array.isArray(body)) return first(body);
  if (!isObject(body)) return undefined;
  return readEmbeddedError(body) ?? fromObject(body);
}

/**
 * The error in a body or chunk that came with a 200; undefined when it is an ordinary one. A null
 * or empty `error` beside an answer is no error.
 */
export function readEmbeddedError(body: JsonObject): ErrorBody | undefined {
  const { error } = body;
  if (isObject(error))
    return fromObject(error) ?? { message: 'The upstream reported an error without a message.' };
  if (typeof error === 'string' && error !== '') return merge({ message: error.slice(0, SHOWN) }, body);
  if (Array.isArray(error) && error.length > 0) return first(error);
  if (body['object'] === 'error' || body['type'] === 'error') {
    return fromObject(body) ?? { message: 'The upstream reported an error without a message.' };
  }
  const base = body['base_resp'];
  if (isObject(base) && typeof base['status_code'] === 'number' && base['status_code'] !== 0) {
    return { message: text(base['status_msg']) ?? 'unknown error', code: String(base['status_code']) };
  }
  if (Array.isArray(body['choices'])) return undefined;
  return ['detail', 'message', 'errors', 'error_msg', 'msg'].some((key) => body[key] !== undefined)
    ? fromObject(body)
    : undefined;
}

function first(list: readonly unknown[]): ErrorBody | undefined {
  for (const each of list) {
    // A list in a list is no error, and may be nested deeper than the stack.
    const found = Array.isArray(each) ? undefined : readErrorBody(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fromObject(value: JsonObject): ErrorBody | undefined {
  const said =
    messageOf(value['message']) ??
    messageOf(value['detail']) ??
    messageOf(value['errors']) ??
    text(value['error_msg']) ??
    text(value['msg']) ??
    text(value['error_description']);
  const { metadata } = value;
  const raw = isObject(metadata) ? text(metadata['raw']) : undefined;
  const message = raw === undefined ? said : `${said ?? 'Provider returned error'}: ${raw.slice(0, SHOWN)}`;
  if (message === undefined) return undefined;
  return merge({ message }, value);
}

/** A string, a list of FastAPI's `{loc, msg}`, or an object that holds one of them. */
function messageOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : unwrap(value);
  if (Array.isArray(value)) {
    const said = value.map((each) => {
      if (!isObject(each)) return text(each);
      const where = Array.isArray(each['loc']) ? `${each['loc'].join('.')}: ` : '';
      const what = text(each['msg']) ?? text(each['message']);
      return what === undefined ? undefined : `${where}${what}`;
    });
    const known = said.filter((each) => each !== undefined);
    return known.length === 0 ? undefined : known.join('; ').slice(0, SHOWN);
  }
  if (!isObject(value) || depth > 3) return undefined;
  return (
    messageOf(value['message'], depth + 1) ?? messageOf(value['detail'], depth + 1) ?? text(value['msg'])
  );
}

/** Gateways put the JSON of another error into the message of theirs. */
function unwrap(message: string): string {
  const at = message.indexOf('{"error"');
  if (at < 0) return message.slice(0, SHOWN);
  try {
    const inner: unknown = JSON.parse(message.slice(at));
    const said = isObject(inner) ? readEmbeddedError(inner)?.message : undefined;
    return said === undefined ? message.slice(0, SHOWN) : `${message.slice(0, at)}${said}`.slice(0, SHOWN);
  } catch {
    return message.slice(0, SHOWN);
  }
}

function merge(body: ErrorBody, value: JsonObject): ErrorBody {
  const type = text(value['type']) ?? text(value['status']);
  if (type !== undefined && type !== 'error') body.type = type;
  const { code } = value;
  if (typeof code === 'string' && code !== '') body.code = code.slice(0, SHOWN);
  const status = [code, value['status_code'], value['status'], value['statusCode']]
    .map(Number)
    .find(isStatus);
  if (status !== undefined) body.status = status;
  const param = text(value['param']);
  if (param !== undefined) body.param = param;
  if (typeof value['n_prompt_tokens'] === 'number') body.promptTokens = value['n_prompt_tokens'];
  if (typeof value['n_ctx'] === 'number') body.contextTokens = value['n_ctx'];
  const retryAfter = retryDelay(value['details']);
  if (retryAfter !== undefined) body.retryAfter = retryAfter;
  return body;
}

function isStatus(value: number): boolean {
  return Number.isInteger(value) && value >= 400 && value < 600;
}

/** `{"@type": "….RetryInfo", "retryDelay": "34.5s"}` among Google's details. */
function retryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = isObject(detail) ? text(detail['retryDelay']) : undefined;
    const seconds = Number.parseFloat(delay ?? '');
    if (seconds >= 0) return seconds;
  }
  return undefined;
}

function fromText(body: string): ErrorBody | undefined {
  const title = /<title>([^<]{1,200})<\/title>/i.exec(body)?.[1];
  if (title !== undefined) return { message: title.trim() };
  const message = body
    .slice(0, SHOWN)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return message === '' ? undefined : { message };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, SHOWN) : undefined;
}
