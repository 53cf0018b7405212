/** Placeholder for an approval that the events have not delivered yet. */
import { useEffect, useState } from 'react';
import { browserTimers } from '../data/events/ports.js';
import { findQuestion } from '../data/find-question.js';
import { client } from '../data/page.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Spinner } from '../ui/spinner.js';
import { strings } from './strings.js';

export function MissingQuestion({
  session,
  call,
  agent,
  approval,
}: {
  session: string;
  call: string;
  agent: string | null;
  approval: string | undefined;
}) {
  const text = useText(strings).missing;
  const [looking, setLooking] = useState(true);
  useEffect(() => {
    if (!looking) return;
    const { request, store } = client;
    const ports = { request, store, after: browserTimers.after };
    return findQuestion({ session, call, agent, approval }, ports, () => setLooking(false));
  }, [looking, session, call, agent, approval]);
  if (looking) {
    return (
      <p className="text-sm">
        <Spinner label={text.loading} show />
      </p>
    );
  }
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
      <p className="min-w-48 flex-1">{text.none}</p>
      <Button size="small" onClick={() => setLooking(true)}>
        {text.again}
      </Button>
    </div>
  );
}
