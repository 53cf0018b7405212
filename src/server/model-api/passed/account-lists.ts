/**
 * The account's lists, without what other keys have made. A page takes the key's own rows from as many pages
 * of the upstream as that needs, and every id in it, cursors included, is of such a row.
 */
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import type { Answer } from '../../../engines/engine.js';
import type { Exchange } from '../../http/exchange.js';
import { readInteger } from '../../http/read-request.js';
import { keeperOf } from '../memory/forwarded-owners.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { notThere } from '../requests/references.js';
import { claim, PLAIN_ID, pass, sendShown, speaksAnthropic, upstreamFor, whole } from './account-pass.js';

/** Pages of the upstream that one request of a client looks through. */
const MOST_PAGES = 20;
/** Every list takes this limit; a page with few rows of one's own should not cost many requests. */
const PAGE_ROWS = 100;
const MOST_ROWS = 10_000;

/** How a wire names the row after which a page begins, or before which it ends. */
const CURSORS = {
  openai: { after: 'after', before: 'before' },
  anthropic: { after: 'after_id', before: 'before_id' },
} as const;
/** Anthropic's skills have page tokens instead of ids. */
const PAGE = 'page';

interface Page {
  /** Undefined: as many as the upstream gives at once. */
  limit: number | undefined;
  /** The name of the cursor; with the one that they end before, rows are read backwards. */
  cursor: string;
  isBackward: boolean;
  from: string | undefined;
  /** What else is asked for. */
  rest: URLSearchParams;
}

export function list(kind: string): ModelApiHandler {
  return async (exchange, context) => {
    const upstream = upstreamFor(exchange, context, kind);
    const page = readPage(exchange, speaksAnthropic(context, upstream));
    if (page.from !== undefined && !(await isOwn(page.from, exchange, context, upstream)))
      throw notThere(page.from);
    const found = await collect(exchange, context, { kind, upstream, page });
    await sendShown(exchange, context, found.answer, found.shown);
  };
}

function readPage({ query }: Exchange, isAnthropic: boolean): Page {
  const rest = new URLSearchParams(query);
  const { after, before } = CURSORS[isAnthropic ? 'anthropic' : 'openai'];
  const limit = rest.has('limit')
    ? readInteger(rest, 'limit', { default: PAGE_ROWS, min: 1, max: MOST_ROWS })
    : undefined;
  const isBackward = rest.has(before) && !rest.has(after);
  const cursor = isBackward ? before : after;
  const from = rest.get(cursor) ?? undefined;
  for (const { after, before } of Object.values(CURSORS)) {
    rest.delete(after);
    rest.delete(before);
  }
  rest.delete(PAGE);
  if (limit !== undefined) rest.set('limit', String(Math.max(limit, PAGE_ROWS)));
  return { limit, cursor, isBackward, from, rest };
}

interface Found {
  answer: Answer;
  shown: unknown;
}

async function collect(
  exchange: Exchange,
  context: ModelApiContext,
  { kind, upstream, page }: { kind: string; upstream: string; page: Page },
): Promise<Found> {
  const own: JsonObject[] = [];
  const query = new URLSearchParams(page.rest);
  if (page.from !== undefined) query.set(page.cursor, page.from);
  let wanted = page.limit;
  for (let pages = 1; ; pages += 1) {
    const asked = { method: 'GET', path: kind, query: query.toString() } as const;
    const answer = await pass(exchange, context, upstream, asked);
    const { status, body } = await whole(answer, context);
    if (status >= 300) return { answer, shown: body };
    const rows = rowsIn(body);
    for (const row of page.isBackward ? rows.toReversed() : rows) {
      if (!isObject(row) || !(await isOwn(row['id'], exchange, context, upstream))) continue;
      await claim(row, exchange, context, upstream);
      own.push(row);
    }
    if (!isObject(body)) return { answer, shown: own };
    const next = nextOf(body, rows, page);
    wanted ??= rows.length;
    // A page token may say something about other keys: a client gets none, but all of its rows at once.
    const isMarked = 'next_page' in body;
    const most = isMarked ? Number.POSITIVE_INFINITY : wanted;
    const isOver = next === undefined || query.get(next.name) === next.value || pages === MOST_PAGES;
    if (!isOver && own.length < most) {
      query.set(next.name, next.value);
      continue;
    }
    const shown = own.slice(0, most);
    const hasMore = own.length > most || (next !== undefined && !isMarked && shown.length > 0);
    return { answer, shown: listOf(body, page.isBackward ? shown.toReversed() : shown, hasMore) };
  }
}

/** Some upstreams send the bare rows. Throws for what is no list, whose owner cannot be found. */
function rowsIn(body: unknown): unknown[] {
  const rows = isObject(body) ? body['data'] : body;
  if (Array.isArray(rows)) return rows;
  throw new GatewayError('upstream_failed', 'The upstream answered with something that is not a list.');
}

function nextOf(
  body: JsonObject,
  rows: readonly unknown[],
  { cursor, isBackward }: Page,
): { name: string; value: string } | undefined {
  const { has_more: hasMore, next_page: mark } = body;
  if (typeof mark === 'string' && mark !== '') return { name: PAGE, value: mark };
  const last = isBackward ? rows[0] : rows.at(-1);
  const id = isObject(last) ? last['id'] : undefined;
  return hasMore === true && typeof id === 'string' ? { name: cursor, value: id } : undefined;
}

/** Drops every other field beside the rows: they are about the whole account. */
function listOf(body: JsonObject, rows: readonly JsonObject[], hasMore: boolean): JsonObject {
  const idOf = (row: JsonObject | undefined) => row?.['id'] ?? null;
  return {
    ...(typeof body['object'] === 'string' ? { object: body['object'] } : {}),
    data: rows,
    ...('first_id' in body ? { first_id: idOf(rows[0]) } : {}),
    ...('last_id' in body ? { last_id: idOf(rows.at(-1)) } : {}),
    has_more: hasMore,
    ...('next_page' in body ? { next_page: null } : {}),
  };
}

async function isOwn(
  id: unknown,
  { principal }: Exchange,
  { answers }: ModelApiContext,
  upstream: string,
): Promise<boolean> {
  if (typeof id !== 'string' || !PLAIN_ID.test(id)) return false;
  return (await keeperOf(id, principal.name, answers)) === upstream;
}
