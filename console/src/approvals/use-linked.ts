/** The question that the link in a message names: `#/inbox?approval=ID`. */
import { useEffect, useState } from 'react';
import { ApiError } from '../data/api.js';
import { loadQuestion } from '../data/find-question.js';
import { client } from '../data/page.js';
import { useConsole } from '../data/store.js';
import { useRoute } from '../ui/router.js';

interface Linked {
  id: string | undefined;
  /** The gateway has none that this key may see. */
  missing: boolean;
}

/** What is decided does not come with the events, so it is fetched. */
export function useLinked(): Linked {
  const id = useRoute().query.get('approval') ?? undefined;
  const known = useConsole((state) => id !== undefined && state.approvals.has(id));
  const live = useConsole((state) => state.connection === 'live');
  const [missing, setMissing] = useState<string>();
  useEffect(() => {
    if (id === undefined || known || !live) return;
    const left = new AbortController();
    loadQuestion(id, client, left.signal).catch((error: unknown) => {
      // Without an answer it is fetched again once the connection is back.
      if (error instanceof ApiError) setMissing(id);
    });
    return () => left.abort();
  }, [id, known, live]);
  return { id, missing: id !== undefined && !known && missing === id };
}
