/**
 * What a request names of the things that another request has made: files, skills, answers. All keys share
 * the account that they are kept in, so the upstream would take any of them from any key.
 */

import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { nestsDeeper } from '../../../dialects/shared/scan-json.js';
import type { Exchange } from '../../http/exchange.js';
import { parseJsonBody } from '../../http/json-body.js';
import { endUserIn, isOwnAnswer, keeperOf, refuseAnothers } from '../memory/forwarded-owners.js';
import type { ModelApiContext } from './context.js';
import type { FormPart } from './multipart-form.js';

export interface Reference {
  id: string;
  kind: 'file' | 'skill' | 'answer';
  /** Of an answer: in whose name it is asked for. */
  user?: string | undefined;
}

/** Fields that name files and skills, wherever they stand. Some servers do not mind the case of letters. */
const FIELDS: readonly { pattern: RegExp; kind: Reference['kind'] }[] = [
  { pattern: /(?:^|_)file_ids?$/i, kind: 'file' },
  { pattern: /^skill_ids?$/i, kind: 'skill' },
];

/** One of them stands in every text with such a field; a name may be written with escapes of its letters. */
const TRACES = ['file_id', 'skill_id', '\\u004', '\\u005', '\\u006', '\\u007'];

/** More of them in one request are no request. */
const MOST_REFERENCES = 50_000;

export function mayName(raw: Buffer): boolean {
  return TRACES.some((trace) => raw.includes(trace));
}

/** Every file and skill that a body names. */
export function referencesIn(body: unknown): Reference[] {
  const found: Reference[] = [];
  const open: { value: unknown; kind: Reference['kind'] | undefined }[] = [{ value: body, kind: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, kind } = next;
    if (typeof value === 'string') {
      if (kind !== undefined) found.push({ id: value, kind });
    } else if (Array.isArray(value)) {
      for (const item of value) open.push({ value: item, kind });
    } else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value))
        if (!isOpaque(name, value)) open.push({ value: inner, kind: kindOf(name) });
    }
  }
  return found;
}

/** What providers keep or hand on as it is: nothing in it is looked up. */
const OPAQUE: ReadonlySet<string> = new Set(['metadata', 'input_schema', 'parameters']);

function isOpaque(name: string, { type }: JsonObject): boolean {
  return OPAQUE.has(name) || (name === 'input' && type === 'tool_use');
}

/** Those that the fields of a form name: by `file_id`, `image[file_id]`, or in JSON. Throws for JSON that nests too deep. */
export function referencesInForm(body: Buffer, parts: readonly FormPart[], maxDepth: number): Reference[] {
  return parts.flatMap(({ name, isFile, from, to }) => {
    const value = body.subarray(from, to);
    const kind = name
      .split(/[^\w]+/)
      .map(kindOf)
      .find((each) => each !== undefined);
    if (kind !== undefined && !isFile) return [{ id: value.toString('utf8'), kind }];
    return isFile || !mayName(value) ? [] : referencesIn(jsonOf(value, maxDepth));
  });
}

/** Undefined for a text that is no JSON: a prompt may begin with a bracket. */
function jsonOf(value: Buffer, maxDepth: number): unknown {
  try {
    return parseJsonBody(value, maxDepth);
  } catch (error) {
    if (nestsDeeper(value, maxDepth)) throw error;
    return undefined;
  }
}

/** The answers and conversations that a request of `/v1/responses` goes on from. */
export function answersIn(body: unknown): Reference[] {
  if (!isObject(body)) return [];
  const { previous_response_id: previous, conversation, input } = body;
  const items = Array.isArray(input) ? input.filter(isObject) : [];
  const named = [
    previous,
    isObject(conversation) ? conversation['id'] : conversation,
    ...items.filter(({ type }) => type === 'item_reference').map(({ id }) => id),
  ];
  const ids = named.filter((id): id is string => typeof id === 'string' && id !== '');
  return ids.map((id) => ({ id, kind: 'answer', user: endUserIn(body) }));
}

function kindOf(name: string): Reference['kind'] | undefined {
  return FIELDS.find(({ pattern }) => pattern.test(name))?.kind;
}

/** Whether any key can have made a file or a skill here. */
export function keepsThings({ dispatcher }: ModelApiContext): boolean {
  return (dispatcher.passers?.('openai').length ?? 0) + (dispatcher.passers?.('anthropic').length ?? 0) > 0;
}

/** Throws GatewayError for what another key has made. What nobody made here may be from elsewhere. */
export async function refuseKnown(
  references: readonly Reference[],
  { principal }: Exchange,
  { answers }: ModelApiContext,
): Promise<void> {
  const asks = { principal: principal.name, user: undefined };
  for (const { id, kind } of distinct(references))
    await refuseAnothers({ id, param: `${kind}_id` }, asks, answers);
}

/** Throws GatewayError for what this key has not made. Providers have skills of their own, which nobody made here. */
export async function refuseUnowned(
  references: readonly Reference[],
  exchange: Exchange,
  context: ModelApiContext,
): Promise<void> {
  const { name: principal } = exchange.principal;
  const { answers } = context;
  for (const reference of distinct(references)) {
    const { id, kind, user } = reference;
    if (kind === 'skill') await refuseKnown([reference], exchange, context);
    else if (kind === 'answer') {
      if (!(await isOwnAnswer(id, { principal, user }, answers))) throw notThere(id);
    } else if ((await keeperOf(id, principal, answers)) === undefined) throw notThere(id);
  }
}

/** Each is looked up once. */
function distinct(references: readonly Reference[]): Iterable<Reference> {
  const found = new Map(references.map((each) => [`${each.kind} ${each.user ?? ''} ${each.id}`, each]));
  if (found.size <= MOST_REFERENCES) return found.values();
  throw new GatewayError(
    'invalid_request',
    `The request names more than ${MOST_REFERENCES} files, skills and answers. Send several.`,
  );
}

/** The same for what is unknown and for what is another's. */
export function notThere(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no ${JSON.stringify(id.slice(0, 100))} that this key has made through this gateway.`,
    { param: 'id' },
  );
}
