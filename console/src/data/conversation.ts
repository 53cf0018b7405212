/** One conversation as it stands: the transcript that the gateway has, and the turn that runs. */
import type { SessionWire } from '../../../src/server/wire/sessions.js';
import type { Part } from './view.js';

export interface Conversation {
  status: 'loading' | 'ready' | 'missing' | 'failed';
  /** Of `failed`. */
  problem: string | undefined;
  session: SessionWire | undefined;
  parts: readonly Part[];
  /** A turn runs. */
  running: boolean;
  /** Undefined where everything is there. */
  loadEarlier: (() => Promise<void>) | undefined;
}

export function useConversation(_session: string | undefined): Conversation {
  return {
    status: 'ready',
    problem: undefined,
    session: undefined,
    parts: [],
    running: false,
    loadEarlier: undefined,
  };
}
