/** Requests that change a conversation; the events report the effect. All reject with ApiError or Unreachable. */
import type {
  ChatRequest,
  ChatStarted,
  MessageMode,
  QueuedMessageWire,
  SessionWire,
  StopAnswer,
} from '../../../src/server/console-api/wire/sessions.js';
import { get, patch, post, remove, Unreachable } from './api.js';
import { noteOwnSession } from './own-sessions.js';

/** Without a network it is sent again this often; the same `client_id` is the same request. */
const TRIES_MS = [0, 500, 1_500, 4_000] as const;

export async function startChat(request: ChatRequest): Promise<ChatStarted> {
  const body: ChatRequest = { client_id: crypto.randomUUID(), ...request };
  const started = await untilAnswered(() => post<ChatStarted>('/api/chat', body));
  noteOwnSession(started.session);
  return started;
}

/** `steer`: into the turn that runs, where its agent can take it, else after it. `queue`: after it. */
export async function sayMeanwhile(
  session: string,
  content: ChatRequest['content'],
  mode: MessageMode,
): Promise<void> {
  await post(`${pathOf(session)}/messages`, { content, mode });
  noteOwnSession(session);
}

export async function queuedMessages(session: string, signal: AbortSignal): Promise<QueuedMessageWire[]> {
  const { data } = await get<{ data: QueuedMessageWire[] }>(`${pathOf(session)}/messages`, signal);
  return data;
}

export function withdrawMessage({ session, id }: QueuedMessageWire): Promise<void> {
  return remove(`${pathOf(session)}/messages/${encodeURIComponent(id)}`);
}

/** Resolves to what waited for the end of the turn, and is not said any more. */
export async function stopTurn(session: string): Promise<QueuedMessageWire[]> {
  const { withdrawn } = await untilAnswered(() => post<StopAnswer>(`${pathOf(session)}/stop`));
  return withdrawn;
}

/** Resumes an interrupted turn. */
export async function resumeTurn(session: string): Promise<ChatStarted> {
  const started = await post<ChatStarted>(`${pathOf(session)}/resume`);
  noteOwnSession(started.session);
  return started;
}

/** Calls that wait are judged by it before this resolves. */
export function setMode(session: string, mode: SessionWire['mode']): Promise<SessionWire> {
  return patch<SessionWire>(pathOf(session), { mode });
}

/** `keep`: only so many turns of it. */
export function forkSession(session: string, keep?: number): Promise<SessionWire> {
  return post<SessionWire>(`${pathOf(session)}/fork`, keep === undefined ? {} : { keep });
}

function pathOf(session: string): string {
  return `/api/sessions/${encodeURIComponent(session)}`;
}

/** Only for idempotent requests. */
async function untilAnswered<T>(say: () => Promise<T>): Promise<T> {
  for (const [index, wait] of TRIES_MS.entries()) {
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      return await say();
    } catch (error) {
      if (!(error instanceof Unreachable) || index === TRIES_MS.length - 1) throw error;
    }
  }
  throw new Unreachable('The gateway does not answer.');
}
