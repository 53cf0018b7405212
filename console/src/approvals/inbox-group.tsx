/** What waits in one session. Several that were looked at can be decided together. */
import { useEffect, useState } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { decide } from '../data/decisions.js';
import { useIdentity } from '../data/identity.js';
import { useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Link } from '../ui/router.js';
import { makeVisible } from '../ui/visible.js';
import { ButtonRow } from './button-row.js';
import { InboxItem } from './inbox-item.js';
import { inboxStrings } from './inbox-strings.js';
import type { InboxGroup } from './use-inbox.js';

interface InboxGroupViewProps {
  group: InboxGroup;
  opened: ReadonlySet<string>;
  /** Opened at any time. */
  looked: ReadonlySet<string>;
  onToggle: (id: string) => void;
}

export function InboxGroupView({ group, opened, looked, onToggle }: InboxGroupViewProps) {
  const text = useText(inboxStrings);
  const info = useSessionInfo(group.session);
  const admin = useIdentity().can('admin');
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<ReadonlyMap<string, string>>(new Map());
  const [busy, setBusy] = useState(false);
  const chosen = group.approvals.filter(({ id, state }) => state === 'pending' && selection.has(id));
  const [first] = group.approvals;

  const select = (id: string, on: boolean) => {
    const next = new Set(selection);
    if (on) next.add(id);
    else next.delete(id);
    setSelection(next);
  };

  const decideAll = async (decision: 'allow' | 'deny') => {
    if (busy) return;
    setBusy(true);
    const outcomes = await Promise.all(chosen.map((approval) => decideOne(approval, decision)));
    setFailures(new Map(outcomes.flatMap(([id, message]) => (message === undefined ? [] : [[id, message]]))));
    setSelection(new Set());
    setBusy(false);
  };

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
            looked={looked.has(approval.id)}
            selected={selection.has(approval.id)}
            onSelect={(on) => select(approval.id, on)}
            failure={failures.get(approval.id)}
          />
        ))}
      </ul>
      {chosen.length > 0 && (
        <div className="px-3">
          <ButtonRow>
            {(guard) => (
              <>
                <span className="text-sm text-muted">{text.selected(chosen.length)}</span>
                <Button variant="primary" busy={busy} onClick={guard(() => void decideAll('allow'))}>
                  {text.allowSelected(chosen.length)}
                </Button>
                <Button busy={busy} onClick={guard(() => void decideAll('deny'))}>
                  {text.denySelected(chosen.length)}
                </Button>
                <Button variant="ghost" disabled={busy} onClick={() => setSelection(new Set())}>
                  {text.clear}
                </Button>
              </>
            )}
          </ButtonRow>
        </div>
      )}
    </section>
  );
}

/** The item shows its own state; only a failure returns a message. */
async function decideOne(
  approval: ApprovalWire,
  decision: 'allow' | 'deny',
): Promise<[id: string, message: string | undefined]> {
  const result = await decide(approval, { decision });
  return [approval.id, result.kind === 'decided' ? undefined : result.message];
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
