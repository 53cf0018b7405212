/** What waits in one session. */
import { useEffect, useState } from 'react';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { useIdentity } from '../data/identity.js';
import { useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Link } from '../ui/router.js';
import { makeVisible } from '../ui/visible.js';
import { InboxItem } from './inbox-item.js';
import { inboxStrings } from './inbox-strings.js';
import type { SharedDecision } from './use-batch.js';
import type { InboxGroup } from './use-inbox.js';

interface InboxGroupViewProps {
  group: InboxGroup;
  opened: ReadonlySet<string>;
  batch: SharedDecision;
  onToggle: (id: string) => void;
}

export function InboxGroupView({ group, opened, batch, onToggle }: InboxGroupViewProps) {
  const text = useText(inboxStrings);
  const info = useSessionInfo(group.session);
  const admin = useIdentity().can('admin');
  const [first] = group.approvals;

  return (
    <section
      aria-label={titleOf(info?.title, text.untitled)}
      className="rounded-lg border border-line bg-surface"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-2">
        <h2 className="min-w-0 flex-1 text-sm font-semibold">
          <Link
            to={`#/chat/${encodeURIComponent(group.session)}`}
            className="text-accent underline underline-offset-2 wrap-anywhere"
          >
            {titleOf(info?.title, text.untitled)}
          </Link>
        </h2>
        {info !== undefined && <Badge>{makeVisible(info.model)}</Badge>}
        {admin && first !== undefined && <Badge>{text.ofKey(makeVisible(first.key))}</Badge>}
      </header>
      <ul>
        {group.approvals.map((approval) => (
          <InboxItem
            key={approval.id}
            approval={approval}
            open={opened.has(approval.id)}
            onToggle={() => onToggle(approval.id)}
            problem={batch.problemOf(approval)}
            selected={batch.isSelected(approval.id)}
            onSelect={(on) => batch.select(approval.id, on)}
            failure={batch.failures.get(approval.id)}
          />
        ))}
      </ul>
    </section>
  );
}

function titleOf(title: string | null | undefined, untitled: string): string {
  return title === null || title === undefined || title === '' ? untitled : makeVisible(title);
}

const fetched = new Map<string, Promise<SessionWire | undefined>>();
const MOST = 500;

/** Undefined while it is not known, and where it is gone. */
function useSessionInfo(id: string): SessionWire | undefined {
  const shared = useConsole((state) => state.sessions.get(id));
  const [own, setOwn] = useState<SessionWire>();
  const known = shared !== undefined;
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
  return shared ?? own;
}

function load(id: string): Promise<SessionWire | undefined> {
  const running = fetched.get(id);
  if (running !== undefined) return running;
  const loaded = get<SessionWire>(`/api/sessions/${encodeURIComponent(id)}?limit=1`).catch(() => {
    // The next mount retries.
    fetched.delete(id);
    return undefined;
  });
  fetched.set(id, loaded);
  const [oldest] = fetched.keys();
  if (fetched.size > MOST && oldest !== undefined) fetched.delete(oldest);
  return loaded;
}
