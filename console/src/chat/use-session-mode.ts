/** The mode of a conversation that exists. Events tell of changes, from wherever they come. */
import { useState } from 'react';
import type { SessionModeWire, SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { setMode } from '../data/chat.js';
import { useConsole } from '../data/store.js';
import { toast } from '../ui/toast.js';

interface ShownMode {
  value: SessionModeWire | null;
  set: (mode: SessionModeWire | null) => void;
}

export function useSessionMode(session: SessionWire | undefined, running: boolean): ShownMode {
  // The conversation is not fetched again while a turn runs.
  const told = useConsole(({ sessions }) => (session === undefined ? undefined : sessions.get(session.id)));
  const known = (running ? told : undefined) ?? session;
  const held = known?.mode ?? null;
  // Shown at once, until the gateway tells of a change.
  const [asked, setAsked] = useState<{ mode: SessionModeWire | null; instead: SessionModeWire | null }>();
  return {
    value: asked !== undefined && asked.instead === held ? asked.mode : held,
    set(mode) {
      if (session === undefined) return;
      setAsked({ mode, instead: held });
      setMode(session.id, mode).catch((error: unknown) => {
        setAsked(undefined);
        toast(error instanceof Error ? error.message : String(error), 'danger');
      });
    },
  };
}
