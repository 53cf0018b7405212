/** Conversations: what they do now, what they took, and what can be done with them. */
import { useMemo, useState } from 'react';
import { SESSION_STATUSES, type SessionWire } from '../../../../src/server/console-api/wire/sessions.js';
import { useIdentity } from '../../data/identity.js';
import { useConsole } from '../../data/store.js';
import { type LiveSessions, pendingOf, statusOf, useLiveSessions } from '../../sessions/live-sessions.js';
import { type SessionDialog, SessionDialogs } from '../../sessions/session-dialogs.js';
import { useText } from '../../text/language.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ListIcon, PlusIcon } from '../../ui/icons.js';
import { Page } from '../../ui/page.js';
import { Link } from '../../ui/router.js';
import { Select } from '../../ui/select.js';
import { statusWords } from '../../ui/session-status.js';
import { Time } from '../../ui/time.js';
import { ListState, MoreButton } from '../shared/list-state.js';
import { SearchField } from '../shared/search-field.js';
import { ShortText } from '../shared/short-text.js';
import { usePages, withParameters } from '../shared/use-pages.js';
import { useQuery } from '../shared/use-query.js';
import { SessionActions } from './session-actions.js';
import { CostCell, ModelCell, SessionStatusBadge, TitleCell, TokensCell } from './session-cells.js';
import {
  familyRows,
  isStatus,
  type SessionFilter,
  type SessionRow,
  stillIn,
  upToDate,
} from './session-rows.js';
import { strings } from './strings.js';

export function SessionsPage() {
  const text = useText(strings);
  const words = useText(statusWords);
  const [query, setQuery] = useQuery();
  const search = query.get('search') ?? '';
  const given = query.get('status');
  const filter = given === 'archived' || isStatus(given) ? given : undefined;
  // A search is not repeated with every change: while agents work, changes are frequent.
  const change = useConsole((state) => (search === '' ? state.changes.sessions : 0));
  const changed = useConsole((state) => state.sessions);
  const live = useLiveSessions();
  const list = usePages<SessionWire>(listPath(search, filter), change);
  const [dialog, setDialog] = useState<SessionDialog>();
  const items = useMemo(
    () => (search === '' ? list.items : upToDate(list.items, changed)),
    [list.items, search, changed],
  );
  const titles = useMemo(
    () => new Map(items.map(({ id, title }) => [id, title ?? text.untitled])),
    [items, text],
  );
  const shown = useMemo(() => familyRows(stillIn(items, filter, live)), [items, filter, live]);
  const columns = useColumns(live, titles, setDialog, list.reload);
  const filtered = search !== '' || filter !== undefined;
  const clear = (
    <Button onClick={() => setQuery({ search: undefined, status: undefined })}>{text.clear}</Button>
  );
  return (
    <Page
      title={text.title}
      intro={text.intro}
      width="full"
      actions={
        <Link to="#/" className={buttonClasses('primary')}>
          <PlusIcon />
          {text.newChat}
        </Link>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField label={text.search} value={search} onChange={(next) => setQuery({ search: next })} />
        <Select
          label={text.filter}
          hideLabel
          value={filter ?? ''}
          options={[
            { value: '', label: text.all },
            ...SESSION_STATUSES.map((value) => ({ value, label: words[value] })),
            { value: 'archived', label: text.archived },
          ]}
          onChange={(next) => setQuery({ status: next })}
        />
        <span className="ml-auto text-xs text-muted">
          {list.hasMore ? text.someShown(shown.length, list.total) : text.shown(shown.length)}
        </span>
      </div>
      <ListState
        loading={list.loading}
        error={list.error}
        present={list.items.length > 0}
        onReload={list.reload}
      >
        <DataTable
          label={text.title}
          columns={columns}
          rows={shown}
          rowKey={({ session }) => session.id}
          rowHref={({ session }) => `#/chat/${encodeURIComponent(session.id)}`}
          empty={
            filtered ? (
              <EmptyState title={text.noneTitle} text={text.noneText} action={clear} />
            ) : (
              <EmptyState
                icon={<ListIcon size={22} />}
                title={text.emptyTitle}
                text={text.emptyText}
                action={
                  <Link to="#/" className={buttonClasses('plain')}>
                    {text.newChat}
                  </Link>
                }
              />
            )
          }
        />
        {list.hasMore && <MoreButton busy={list.loadingMore} onMore={list.more} />}
      </ListState>
      <SessionDialogs dialog={dialog} live={live} onClose={() => setDialog(undefined)} onDone={list.reload} />
    </Page>
  );
}

function listPath(search: string, filter: SessionFilter): string {
  return withParameters(
    '/api/sessions',
    filter === 'archived' ? { search, archived: 'only' } : { search, status: filter },
  );
}

function useColumns(
  live: LiveSessions,
  titles: ReadonlyMap<string, string>,
  onDialog: (dialog: SessionDialog) => void,
  onDone: () => void,
): readonly Column<SessionRow>[] {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  return useMemo(() => {
    const columns: Column<SessionRow>[] = [
      {
        id: 'conversation',
        label: text.conversation,
        className: 'w-2/5 min-w-56',
        render: (row) => <TitleCell row={row} parentTitle={titles.get(row.session.parent ?? '')} />,
      },
      {
        id: 'state',
        label: text.state,
        render: ({ session }) => (
          <SessionStatusBadge
            status={statusOf(session, live)}
            approvals={pendingOf(session, live)}
            resumable={session.resumable}
          />
        ),
      },
      { id: 'model', label: text.model, render: ({ session }) => <ModelCell session={session} /> },
      ...(admin
        ? [
            {
              id: 'key',
              label: text.key,
              className: 'max-w-32',
              render: ({ session }: SessionRow) => <ShortText text={session.key} />,
            },
          ]
        : []),
      {
        id: 'tokens',
        label: text.tokens,
        align: 'end',
        render: ({ session }) => <TokensCell usage={session.usage} />,
      },
      {
        id: 'cost',
        label: text.cost,
        align: 'end',
        render: ({ session }) => <CostCell usage={session.usage} />,
      },
      {
        id: 'updated',
        label: text.updated,
        align: 'end',
        render: ({ session }) => <Time at={session.updated_at} relative />,
      },
      {
        id: 'actions',
        label: text.actions,
        hideLabel: true,
        interactive: true,
        align: 'end',
        render: ({ session }) => (
          <SessionActions
            session={session}
            status={statusOf(session, live)}
            live={live}
            onDialog={onDialog}
            onDone={onDone}
          />
        ),
      },
    ];
    return columns;
  }, [text, admin, live, titles, onDialog, onDone]);
}
