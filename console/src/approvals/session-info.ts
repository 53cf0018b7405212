/** The title of a session and whose it is, for where only its id is known. */
import { useEffect, useState } from 'react';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { useConsole } from '../data/store.js';

const fetched = new Map<string, Promise<SessionWire | undefined>>();
const MOST = 500;

/** Undefined while it is not known, and where it is gone. */
export function useSessionInfo(id: string): SessionWire | undefined {
  const told = useConsole((state) => state.sessions.get(id));
  const [own, setOwn] = useState<SessionWire>();
  const known = told !== undefined;
  useEffect(() => {
    if (known) return;
    let wanted = true;
    void load(id).then((session) => {
      if (wanted) setOwn(session);
    });
    return () => {
      wanted = false;
    };
  }, [id, known]);
  return told ?? own;
}

function load(id: string): Promise<SessionWire | undefined> {
  const running = fetched.get(id);
  if (running !== undefined) return running;
  const loaded = get<SessionWire>(`/api/sessions/${encodeURIComponent(id)}?limit=1`).catch(() => {
    // It is asked for again when it is shown again.
    fetched.delete(id);
    return undefined;
  });
  fetched.set(id, loaded);
  const [oldest] = fetched.keys();
  if (fetched.size > MOST && oldest !== undefined) fetched.delete(oldest);
  return loaded;
}
