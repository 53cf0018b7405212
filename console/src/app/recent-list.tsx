/** Recent conversations in the side bar, as they stand now. */
import { useState } from 'react';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { useIdentity } from '../data/identity.js';
import { type LiveSessions, statusOf, useLiveSessions } from '../sessions/live-sessions.js';
import { useRecentSessions } from '../sessions/recent-sessions.js';
import { type SessionDialog, SessionDialogs } from '../sessions/session-dialogs.js';
import { shortTitle, useSessionItems } from '../sessions/session-items.js';
import { useText } from '../text/language.js';
import type { Tone } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { IconButton } from '../ui/icon-button.js';
import { MoreIcon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { Link } from '../ui/router.js';
import { STATUS_ICON, STATUS_TONE, statusWords } from '../ui/session-status.js';
import { Skeleton } from '../ui/skeleton.js';
import { VisibleText } from '../ui/visible-text.js';
import { strings } from './strings.js';

/** `open`: the one that is shown. */
export function RecentList({ open }: { open: string | undefined }) {
  const text = useText(strings).recent;
  const { name } = useIdentity();
  const { pinned, others, loading, error, reload } = useRecentSessions(name);
  const live = useLiveSessions();
  const [dialog, setDialog] = useState<SessionDialog>();
  const list = (title: string, sessions: readonly SessionWire[]) =>
    sessions.length > 0 && (
      <>
        <p className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">{title}</p>
        <ul aria-label={title} className="flex flex-col gap-0.5">
          {sessions.map((session) => (
            <Row
              key={session.id}
              session={session}
              live={live}
              current={session.id === open}
              onDialog={setDialog}
            />
          ))}
        </ul>
      </>
    );
  return (
    <section aria-label={text.label} className="min-h-40 flex-1 overflow-y-auto px-2 pb-2">
      {list(text.pinned, pinned)}
      {list(text.recent, others)}
      {loading && <Skeleton lines={3} />}
      {error !== undefined && (
        <div className="px-2.5 py-2 text-xs text-muted">
          <p className="mb-1">{text.failed}</p>
          <Button size="small" onClick={reload}>
            {text.retry}
          </Button>
        </div>
      )}
      <SessionDialogs dialog={dialog} live={live} onClose={() => setDialog(undefined)} onDone={reload} />
    </section>
  );
}

const TONE_TEXT: Record<Tone, string> = {
  ok: 'text-ok',
  warn: 'text-warn',
  danger: 'text-danger',
  info: 'text-info',
  plain: 'text-muted',
};

interface RowProps {
  session: SessionWire;
  live: LiveSessions;
  current: boolean;
  onDialog: (dialog: SessionDialog) => void;
}

function Row({ session, live, current, onDialog }: RowProps) {
  const text = useText(strings).recent;
  const words = useText(statusWords);
  const status = statusOf(session, live);
  const items = useSessionItems(session, onDialog);
  const Icon = STATUS_ICON[status];
  const title = shortTitle(session, text.untitled);
  return (
    <li
      className={classes(
        'group flex items-center rounded-md pr-0.5',
        current ? 'bg-raised text-ink' : 'text-muted hover:bg-raised hover:text-ink',
      )}
    >
      <Link
        to={`#/chat/${encodeURIComponent(session.id)}`}
        aria-current={current ? 'page' : undefined}
        title={title}
        className="min-w-0 flex-1 rounded-md py-1.5 pl-2.5 text-sm no-underline"
      >
        <span className="block truncate">
          <VisibleText text={session.title ?? text.untitled} />
        </span>
        {status !== 'idle' && (
          <span className={classes('flex items-center gap-1 text-xs', TONE_TEXT[STATUS_TONE[status]])}>
            <Icon size={11} />
            {words[status]}
          </span>
        )}
      </Link>
      <Menu
        label={text.actionsOf(title)}
        trigger={
          <IconButton
            label={text.actionsOf(title)}
            size="small"
            className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 aria-expanded:opacity-100 pointer-coarse:opacity-100"
          >
            <MoreIcon />
          </IconButton>
        }
        items={items}
        align="start"
      />
    </li>
  );
}
