/** Pages of sessions: all of them, or those that do something certain now, which only in part is in the store. */
import type { Sessions } from '../../sessions/sessions.js';
import type { SessionQuery, SessionState } from '../../store/sessions.js';
import type { Page } from '../../store/store.js';
import { type SessionFacts, sessionsToWire } from './session-wire.js';
import { type SessionStatus, sessionStatus } from './wire/session-status.js';
import type { SessionWire } from './wire/sessions.js';

/** Where so many looks into the store have not filled the page, the next page goes on; a search is long enough. */
const MOST_LOOKS = { list: 20, search: 1 };

type ListContext = SessionFacts & { sessions: Pick<Sessions, 'list' | 'running'> };

export async function listAll(context: ListContext, query: SessionQuery): Promise<Page<SessionWire>> {
  const { items, ...rest } = await context.sessions.list(query);
  return { items: await sessionsToWire(context, items), ...rest };
}

export async function listByStatus(
  context: ListContext,
  query: SessionQuery,
  status: SessionStatus,
): Promise<Page<SessionWire>> {
  const mostLooks = query.search === undefined ? MOST_LOOKS.list : MOST_LOOKS.search;
  const items: SessionWire[] = [];
  let { cursor } = query;
  for (let looks = 1; ; looks++) {
    const narrow = narrowed(status, context.sessions.running());
    const page = await context.sessions.list({
      ...query,
      ...narrow,
      ...(query.states && { states: narrow.states.filter((state) => query.states?.includes(state)) }),
      // Not one more than there is room for: the next page begins after the last that was read.
      limit: query.limit - items.length,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const shown = await sessionsToWire(context, page.items);
    items.push(...shown.filter((session) => sessionStatus(session) === status));
    cursor = page.next;
    if (cursor === undefined) return { items };
    if (items.length >= query.limit || looks >= mostLooks) return { items, next: cursor };
  }
}

type Narrowed = Pick<SessionQuery, 'among' | 'except' | 'waiting' | 'turnOpen'> & {
  states: readonly SessionState[];
};

const LASTING = ['live', 'parked', 'hibernated'] as const;

/** All that can be in the state, and as few others as the store can tell. */
function narrowed(status: SessionStatus, running: readonly string[]): Narrowed {
  switch (status) {
    case 'waiting':
      return { states: LASTING, waiting: true };
    case 'running':
      return { states: LASTING, waiting: false, among: running };
    case 'interrupted':
      return { states: LASTING, waiting: false, except: running, turnOpen: true };
    case 'client':
      return { states: ['parked', 'hibernated'], waiting: false, except: running };
    case 'idle':
      return { states: ['live'], waiting: false, except: running };
  }
}
