/**
 * The approval of a waiting call comes with the events, mostly before the call itself. Where it does
 * not come, it is fetched: a waiting card without buttons could not be answered.
 */
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { ApiError, type Request } from './api.js';
import type { Timers } from './events/ports.js';
import { noteApproval } from './reducer/apply-event.js';
import type { StateStore } from './reducer/console-state.js';

export interface WantedQuestion {
  session: string;
  call: string;
  agent: string | null;
  /** Its id, where the events named it. */
  approval: string | undefined;
}

interface FindPorts extends Pick<Timers, 'after'> {
  request: Request;
  store: StateStore;
}

export const FIND_TIMES = { firstMs: 1_000, againMs: 3_000 } as const;

/** `onAnswer`: the gateway has answered. Returns a function that cancels. */
export function findQuestion(wanted: WantedQuestion, ports: FindPorts, onAnswer: () => void): () => void {
  const { request, store, after } = ports;
  let stopped = false;
  const look = async (): Promise<void> => {
    try {
      const found = await ask(wanted, request);
      if (stopped) return;
      if (found !== undefined) store.update((state) => noteApproval(state, found));
      onAnswer();
    } catch {
      if (!stopped) cancel = after(FIND_TIMES.againMs, () => void look());
    }
  };
  let cancel = after(FIND_TIMES.firstMs, () => void look());
  return () => {
    stopped = true;
    cancel();
  };
}

/** One that is named, however it stands. Rejects as `request` does. */
export async function loadQuestion(
  id: string,
  { request, store }: Pick<FindPorts, 'request' | 'store'>,
  signal: AbortSignal,
): Promise<void> {
  const found = await request<ApprovalWire>(
    'GET',
    `/api/approvals/${encodeURIComponent(id)}`,
    undefined,
    signal,
  );
  store.update((state) => noteApproval(state, found));
}

/** Undefined where this key may see none. Rejects where the gateway does not answer. */
async function ask(
  { approval, session, call, agent }: WantedQuestion,
  request: Request,
): Promise<ApprovalWire | undefined> {
  try {
    if (approval !== undefined)
      return await request<ApprovalWire>('GET', `/api/approvals/${encodeURIComponent(approval)}`);
    const query = `session=${encodeURIComponent(session)}&state=pending&limit=500`;
    const { data } = await request<{ data: ApprovalWire[] }>('GET', `/api/approvals?${query}`);
    return data.find((each) => each.tool_use_id === call && each.agent === agent);
  } catch (error) {
    if (error instanceof ApiError && error.status < 500 && error.status !== 429) return undefined;
    throw error;
  }
}
