/** Tells the agent in its own conversation that somebody is there now. */
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { startChat } from '../data/chat.js';

/** Undefined when it was said; else why not. Never rejects. */
export async function askAgain({
  call,
  session,
  content,
}: {
  /** Pressed twice for the same call, it is said once. */
  call: string;
  session: string;
  content: string;
}): Promise<string | undefined> {
  try {
    const { model } = await get<SessionWire>(`/api/sessions/${encodeURIComponent(session)}?limit=1`);
    await startChat({ model, session, content, client_id: `again-${call}` });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
