import { useState } from 'react';
import type { TokenCounts } from '../../../src/activity/wire.js';
import {
  type SessionStatus,
  type SessionUsageWire,
  type SessionWire,
  sessionStatus,
} from '../../../src/server/console-api/wire/sessions.js';
import { useConsole } from '../data/store.js';
import { useLiveSessions } from '../sessions/live-sessions.js';
import { type SessionDialog, SessionDialogs } from '../sessions/session-dialogs.js';
import { useSessionItems } from '../sessions/session-items.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { copyText } from '../ui/copy-button.js';
import { formatTokens, formatUsd } from '../ui/format.js';
import { FolderIcon, ForkIcon, LinkIcon, ListIcon, PlusIcon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { navigate } from '../ui/router.js';
import { STATUS_TONE, statusWords } from '../ui/session-status.js';
import { toast } from '../ui/toast.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { lastName } from './paths.js';
import { strings } from './strings.js';

interface ChatHeaderProps {
  session: SessionWire;
  running: boolean;
  /** The last turn failed. */
  failed: boolean;
  onFork: () => void;
}

export function ChatHeader({ session, running, failed, onFork }: ChatHeaderProps) {
  const text = useText(strings);
  const words = useText(statusWords);
  const status = useStatus(session, running, failed);
  const usage = useUsage(session);
  const live = useLiveSessions();
  const title = session.title ?? text.untitled;
  const [dialog, setDialog] = useState<SessionDialog>();
  const items = useSessionItems(session, setDialog);
  return (
    <header className="flex shrink-0 items-center gap-3 border-b border-line bg-surface px-4 py-2">
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2">
          <h1 className="min-w-0 truncate text-sm font-semibold" title={makeVisible(title)}>
            <VisibleText text={title} />
          </h1>
          <Badge tone={STATUS_TONE[status]} className="shrink-0">
            {session.state === 'expired' ? text.expired : words[status]}
          </Badge>
          {session.archived && <Badge className="shrink-0">{text.archived}</Badge>}
        </div>
        <dl className="flex min-w-0 items-center gap-x-3 overflow-hidden text-xs whitespace-nowrap text-muted">
          <div className="min-w-0 truncate">
            <dt className="sr-only">{text.model}</dt>
            <dd className="inline">
              {session.model}
              {session.engine !== 'relay' &&
                ` · ${session.engine === 'claude-code' ? text.claudeCode : text.agent}`}
            </dd>
          </div>
          {session.root !== null && (
            <div className="inline-flex min-w-0 items-center gap-1" title={session.root}>
              <dt className="sr-only">{text.folder}</dt>
              <FolderIcon size={12} className="shrink-0" />
              <dd className="min-w-0 truncate">
                <VisibleText text={lastName(session.root)} />
              </dd>
            </div>
          )}
          {usage !== undefined && (
            <>
              <div title={text.tokensTitle} className="hidden shrink-0 sm:block">
                <dt className="sr-only">{text.tokensTitle}</dt>
                <dd>{text.tokens(formatTokens(usage.input), formatTokens(usage.output))}</dd>
              </div>
              {usage.cost !== undefined && (
                <div title={text.cost} className="shrink-0">
                  <dt className="sr-only">{text.cost}</dt>
                  <dd>{formatUsd(usage.cost, text.costUnknown)}</dd>
                </div>
              )}
            </>
          )}
        </dl>
      </div>
      <Menu
        label={text.more}
        items={[
          { label: text.newChat, icon: <PlusIcon />, onSelect: () => navigate('#/') },
          { label: text.fork, icon: <ForkIcon />, onSelect: onFork },
          { label: text.copyLink, icon: <LinkIcon />, onSelect: () => void copyAddress(text.linkCopied) },
          'separator',
          ...items,
          'separator',
          { label: text.openSessions, icon: <ListIcon />, onSelect: () => navigate('#/sessions') },
        ]}
      />
      <SessionDialogs dialog={dialog} live={live} onClose={() => setDialog(undefined)} />
    </header>
  );
}

async function copyAddress(done: string): Promise<void> {
  await copyText(location.href);
  toast(done, 'ok');
}

function useStatus(session: SessionWire, running: boolean, failed: boolean): SessionStatus {
  const { id, state, interrupted } = session;
  const asking = useConsole(({ approvals }) => {
    for (const approval of approvals.values()) {
      if (approval.session === id && approval.state === 'pending') return 1;
    }
    return 0;
  });
  return sessionStatus({ pending_approvals: asking, running, interrupted: interrupted || failed, state });
}

interface ShownUsage {
  input: number;
  output: number;
  /** Null where no price is known; undefined until the first turn is counted. */
  cost: number | null | undefined;
}

/** What was counted, and what the turn that runs adds to it. */
function useUsage(session: SessionWire): ShownUsage | undefined {
  const turn = useConsole(({ turns }) => turns.get(session.id));
  const live = turn?.ended === undefined ? turn?.usage : undefined;
  if (session.usage === null && live === undefined) return undefined;
  const counts: (TokenCounts | SessionUsageWire)[] = [session.usage, live].filter(
    (each) => each !== null && each !== undefined,
  );
  const add = (count: (of: TokenCounts) => number): number =>
    counts.reduce((sum, each) => sum + count(each), 0);
  return {
    input: add((each) => each.input_tokens + each.cache_read_tokens + each.cache_write_tokens),
    output: add((each) => each.output_tokens),
    cost: session.usage?.cost_usd,
  };
}
