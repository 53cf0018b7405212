/** One conversation: the transcript that the gateway has, and the running turn. */
import { useSyncExternalStore } from 'react';
import { ConversationSource, type ConversationView, NO_CONVERSATION } from './conversation-source.js';
import { browserTimers } from './events/ports.js';
import { client } from './page.js';

export type { ConversationView } from './conversation-source.js';

/** Sources of recent conversations are kept, so that they open at once. */
const KEPT = 8;

const sources = new Map<string, ConversationSource>();

/** Undefined: a conversation that has not begun. */
export function useConversation(session: string | undefined): ConversationView {
  const source = session === undefined ? undefined : sourceOf(session);
  return useSyncExternalStore(source?.subscribe ?? nothing, source?.get ?? none);
}

function sourceOf(session: string): ConversationSource {
  const known = sources.get(session);
  if (known !== undefined) return known;
  const { request, store } = client;
  const source = new ConversationSource(session, { after: browserTimers.after, request, store });
  sources.set(session, source);
  for (const oldest of sources.keys()) {
    if (sources.size <= KEPT) break;
    sources.delete(oldest);
  }
  return source;
}

const nothing = (): (() => void) => () => {};
const none = (): ConversationView => NO_CONVERSATION;
