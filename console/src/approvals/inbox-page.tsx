/** Everything that waits for a person, in all sessions. */
import { useEffect, useRef, useState } from 'react';
import { NotificationSwitch } from '../notifications/notification-switch.js';
import { gatewayTitle } from '../text/gateway-sentences.js';
import { useLanguage, useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { EmptyState } from '../ui/empty-state.js';
import { InboxIcon } from '../ui/icons.js';
import { Page, Section } from '../ui/page.js';
import { Time } from '../ui/time.js';
import { makeVisible } from '../ui/visible.js';
import { BatchBar } from './batch-bar.js';
import { InboxGroupView } from './inbox-group.js';
import { InboxHistory } from './inbox-history.js';
import { inboxStrings } from './inbox-strings.js';
import { takeUp } from './later.js';
import { useBatch } from './use-batch.js';
import { type InboxView, useInbox } from './use-inbox.js';
import { useLinked } from './use-linked.js';

export function InboxPage() {
  const text = useText(inboxStrings);
  const language = useLanguage();
  const linked = useLinked();
  const inbox = useInbox(linked.id);
  const { groups, aside } = inbox;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [looked, setLooked] = useState<ReadonlySet<string>>(new Set());
  const open = (id: string) => {
    setOpened(new Set([...opened, id]));
    setLooked(new Set([...looked, id]));
  };
  const toggle = (id: string) => {
    if (opened.has(id)) setOpened(new Set([...opened].filter((each) => each !== id)));
    else open(id);
  };
  useFirstOpened(inbox, linked.id, open);
  const pending = groups.flatMap(({ approvals }) => approvals.filter(({ state }) => state === 'pending'));
  const batch = useBatch(pending, looked);
  return (
    <Page title={text.title} intro={text.intro} actions={<NotificationSwitch />}>
      {linked.missing && <p className="mb-4 rounded-md bg-raised px-3 py-2 text-sm">{text.linkMissing}</p>}
      {groups.length === 0 ? (
        <EmptyState icon={<InboxIcon size={22} />} title={text.emptyTitle} text={text.emptyText} />
      ) : (
        <div className="flex flex-col gap-4">
          {inbox.waiting === 0 && <p className="text-sm text-muted">{text.allDone}</p>}
          {pending.length > 1 && (
            <div>
              <Button size="small" onClick={batch.selectAll}>
                {text.selectAll}
              </Button>
            </div>
          )}
          {groups.map((group) => (
            <InboxGroupView
              key={group.session}
              group={group}
              opened={opened}
              batch={batch}
              onToggle={toggle}
            />
          ))}
          <BatchBar batch={batch} />
        </div>
      )}
      {aside.length > 0 && (
        <Section title={text.aside} intro={text.asideIntro}>
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {aside.map(({ approval, until }) => (
              <li key={approval.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm">
                <span className="min-w-0 flex-1 wrap-anywhere">
                  {makeVisible(gatewayTitle(approval.describe.title, language))}
                </span>
                <span className="text-xs text-muted">
                  {text.until} <Time at={until} />
                </span>
                <Button size="small" onClick={() => takeUp(approval.id)}>
                  {text.takeUp}
                </Button>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <InboxHistory />
    </Page>
  );
}

/**
 * The one that a link named is open when one comes here, otherwise the oldest; what arrives later opens
 * nothing by itself.
 */
function useFirstOpened({ groups }: InboxView, linked: string | undefined, open: (id: string) => void): void {
  const done = useRef<string>(undefined);
  const all = groups.flatMap(({ approvals }) => approvals);
  const first =
    linked === undefined
      ? all.find(({ state }) => state === 'pending')?.id
      : all.find(({ id }) => id === linked)?.id;
  const isDone = done.current !== undefined && (linked === undefined || done.current === linked);
  useEffect(() => {
    if (isDone || first === undefined) return;
    done.current = first;
    open(first);
    if (first === linked)
      document.querySelector(`[data-inbox-item="${CSS.escape(first)}"]`)?.scrollIntoView();
  });
}
