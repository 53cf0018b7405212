import { useMemo } from 'react';
import { useIdentity } from '../../data/identity.js';
import { useConsole } from '../../data/store.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty-state.js';
import { formatDuration, formatTokens } from '../../ui/format.js';
import { CloseIcon, TraceIcon } from '../../ui/icons.js';
import { Page } from '../../ui/page.js';
import { Link } from '../../ui/router.js';
import { Select } from '../../ui/select.js';
import { Time } from '../../ui/time.js';
import { Toggle } from '../../ui/toggle.js';
import { ListState, MoreButton } from '../shared/list-state.js';
import { ShortText } from '../shared/short-text.js';
import { useFetched } from '../shared/use-fetched.js';
import { usePages, withParameters } from '../shared/use-pages.js';
import { type QueryChange, useQuery } from '../shared/use-query.js';
import { strings } from './strings.js';
import { isFiltered, matches, readFilter, STATUS_CLASSES, type TraceFilter } from './trace-filters.js';
import { MarkBadges, TraceStatusBadge } from './trace-marks.js';
import { factsOf, type TraceWire } from './trace-types.js';

export function TraceList() {
  const text = useText(strings);
  const [query, setQuery] = useQuery();
  const filter = useMemo(() => readFilter(query), [query]);
  const change = useConsole((state) => state.changes.requests);
  const path = withParameters('/api/traces', {
    model: filter.model,
    status: filter.status,
    errors: filter.errors ? '1' : undefined,
    session: filter.session,
  });
  const list = usePages<TraceWire>(path, change);
  const shown = useMemo(() => list.items.filter((trace) => matches(trace, filter)), [list.items, filter]);
  const columns = useColumns();
  return (
    <Page title={text.title} intro={text.intro} width="full">
      <Filters
        filter={filter}
        shown={list.hasMore ? text.someShown(shown.length) : text.shown(shown.length)}
        onChange={setQuery}
      />
      <ListState
        loading={list.loading}
        error={list.error}
        present={list.items.length > 0}
        onReload={list.reload}
      >
        <DataTable
          label={text.list}
          columns={columns}
          rows={shown}
          rowKey={({ id }) => id}
          rowHref={({ id }) => `#/traces/${encodeURIComponent(id)}`}
          empty={
            isFiltered(filter) ? (
              <EmptyState
                title={text.noneTitle}
                text={list.hasMore ? text.noneLoaded : text.noneText}
                action={<Button onClick={() => setQuery(NO_FILTER)}>{text.clear}</Button>}
              />
            ) : (
              <EmptyState title={text.emptyTitle} text={text.emptyText} icon={<TraceIcon size={22} />} />
            )
          }
        />
        {list.hasMore && <MoreButton busy={list.loadingMore} onMore={list.more} />}
      </ListState>
    </Page>
  );
}

const NO_FILTER: QueryChange = { model: undefined, status: undefined, errors: undefined, session: undefined };

function Filters({
  filter,
  shown,
  onChange,
}: {
  filter: TraceFilter;
  shown: string;
  onChange: (change: QueryChange) => void;
}) {
  const text = useText(strings);
  const known = useFetched<{ data: { model?: string }[] }>('/api/usage?by=model');
  const models = useMemo(() => {
    const names = (known.data?.data ?? []).flatMap(({ model }) => (model ? [model] : []));
    return [...new Set([...names, ...(filter.model === '' ? [] : [filter.model])])].toSorted();
  }, [known.data, filter.model]);
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2">
      <Select
        label={text.filterModel}
        hideLabel
        className="w-52"
        value={filter.model}
        options={[
          { value: '', label: text.anyModel },
          ...models.map((name) => ({
            value: name,
            label: name.length > 80 ? `${name.slice(0, 80)}…` : name,
          })),
        ]}
        onChange={(model) => onChange({ model })}
      />
      <Select
        label={text.filterStatus}
        hideLabel
        value={filter.status ?? ''}
        options={[
          { value: '', label: text.anyStatus },
          ...STATUS_CLASSES.map((value) => ({ value, label: text.statuses[value] })),
        ]}
        onChange={(status) => onChange({ status })}
      />
      <Toggle
        label={text.errorsOnly}
        checked={filter.errors}
        onChange={(errors) => onChange({ errors: errors ? '1' : undefined })}
      />
      {filter.session !== '' && (
        <Button
          size="small"
          icon={<CloseIcon size={12} />}
          title={text.clearSession}
          onClick={() => onChange({ session: undefined })}
        >
          {text.ofSession(filter.session.slice(0, 24))}
        </Button>
      )}
      <span className="ml-auto text-xs text-muted">{shown}</span>
    </div>
  );
}

function useColumns(): readonly Column<TraceWire>[] {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  return useMemo(() => {
    const columns: Column<TraceWire>[] = [
      {
        id: 'model',
        label: text.model,
        className: 'max-w-72',
        render: (trace) => (
          <span className="flex min-w-0 flex-col">
            <ShortText text={trace.model === '' ? text.unknown : trace.model} />
            {trace.upstream !== null && (
              <span className="text-xs font-normal text-muted">
                <ShortText text={`→ ${trace.upstream}`} />
              </span>
            )}
            {factsOf(trace).inner && <span className="text-xs font-normal text-muted">{text.inner}</span>}
          </span>
        ),
      },
      // In the order of the list: a long request stands where it ended.
      { id: 'time', label: text.ended, render: (trace) => <Time at={endOf(trace)} /> },
      { id: 'status', label: text.status, render: (trace) => <TraceStatusBadge trace={trace} /> },
      {
        id: 'stop',
        label: text.stop,
        className: 'max-w-40',
        render: (trace) => <ShortText text={factsOf(trace).stopReason ?? '–'} mono />,
      },
      {
        id: 'tokens',
        label: text.tokens,
        align: 'end',
        render: (trace) => {
          const { tokens } = factsOf(trace);
          return tokens === undefined
            ? '–'
            : text.tokensInOut(formatTokens(tokens.input + tokens.cached), formatTokens(tokens.output));
        },
      },
      {
        id: 'duration',
        label: text.duration,
        align: 'end',
        render: (trace) => {
          const { firstTokenMs, waitedMs } = factsOf(trace);
          const title =
            firstTokenMs === undefined ? undefined : text.firstToken(formatDuration(firstTokenMs));
          return (
            <span title={title}>
              {formatDuration(trace.duration_ms - waitedMs)}
              {waitedMs > 0 && (
                <span className="block text-xs text-muted">{text.waited(formatDuration(waitedMs))}</span>
              )}
            </span>
          );
        },
      },
      { id: 'marks', label: text.marks, render: (trace) => <MarkBadges trace={trace} /> },
      ...(admin
        ? [
            {
              id: 'key',
              label: text.key,
              className: 'max-w-32',
              render: ({ key }: TraceWire) => <ShortText text={key} />,
            },
          ]
        : []),
      {
        id: 'session',
        label: text.session,
        interactive: true,
        className: 'max-w-36',
        render: (trace) => <SessionCell trace={trace} />,
      },
    ];
    return columns;
  }, [text, admin]);
}

const endOf = ({ at, duration_ms }: TraceWire): number => Date.parse(at) + duration_ms;

function SessionCell({ trace }: { trace: TraceWire }) {
  const { session } = factsOf(trace);
  if (session === undefined) return <span className="text-muted">–</span>;
  return (
    <Link
      to={`#/chat/${encodeURIComponent(session)}`}
      className="block truncate font-mono text-xs text-accent underline-offset-2 hover:underline"
    >
      {session}
    </Link>
  );
}
