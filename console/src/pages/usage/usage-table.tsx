import { useMemo } from 'react';
import type { UsageRowWire } from '../../../../src/server/console-api/wire/usage.js';
import { useText } from '../../text/language.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { formatDuration, formatNumber, formatTokens, formatUsd } from '../../ui/format.js';
import { ListState, MoreButton } from '../shared/list-state.js';
import { ShortText } from '../shared/short-text.js';
import { usePages, withParameters } from '../shared/use-pages.js';
import { type Group, type Totals, totalsOf } from './figures.js';
import { strings } from './strings.js';

interface GroupRow {
  name: string;
  totals: Totals;
}

interface UsageTableProps {
  /** Of the usage, with its times. */
  path: string;
  change: number;
  group: Group;
}

/** In pages: there may be any number of names. */
export function UsageTable({ path, change, group }: UsageTableProps) {
  const text = useText(strings);
  const list = usePages<UsageRowWire>(withParameters(path, { by: group, histograms: '1' }), change);
  const groups = useMemo<readonly GroupRow[]>(
    () => list.items.map((row) => ({ name: row[group] ?? '', totals: totalsOf([row]) })),
    [list.items, group],
  );
  const columns = useMemo<readonly Column<GroupRow>[]>(() => {
    const figure = (
      id: string,
      label: string,
      value: (totals: Totals) => number | undefined,
      format: (value: number) => string,
    ): Column<GroupRow> => ({
      id,
      label,
      align: 'end',
      compare: (a, b) => (value(a.totals) ?? -1) - (value(b.totals) ?? -1),
      render: ({ totals }) => {
        const given = value(totals);
        return given === undefined ? <span className="text-muted">{text.unknown}</span> : format(given);
      },
    });
    return [
      {
        id: 'name',
        label: text[group],
        className: 'max-w-80',
        compare: (a, b) => a.name.localeCompare(b.name),
        render: ({ name }) => <ShortText text={name === '' ? text.noName : name} />,
      },
      figure('requests', text.requests, ({ requests }) => requests, formatNumber),
      figure('errors', text.errorsColumn, ({ errors }) => errors, formatNumber),
      figure('input', text.inputColumn, ({ input_tokens }) => input_tokens, formatTokens),
      figure('output', text.outputColumn, ({ output_tokens }) => output_tokens, formatTokens),
      figure(
        'cache',
        text.cacheColumn,
        (totals) => totals.cache_read_tokens + totals.cache_write_tokens,
        formatTokens,
      ),
      {
        ...figure(
          'cost',
          text.cost,
          ({ costUsd }) => costUsd,
          (value) => formatUsd(value),
        ),
        render: ({ totals }) => <Cost totals={totals} />,
      },
      figure('median', text.latencyMedian, ({ medianLatencyMs }) => medianLatencyMs, formatDuration),
      figure('p95', text.latencyP95, ({ p95LatencyMs }) => p95LatencyMs, formatDuration),
      figure('max', text.longest, ({ maxLatencyMs }) => maxLatencyMs, formatDuration),
    ];
  }, [text, group]);
  return (
    <ListState
      loading={list.loading}
      error={list.error}
      present={list.items.length > 0}
      onReload={list.reload}
    >
      <DataTable label={text.groups[group]} columns={columns} rows={groups} rowKey={({ name }) => name} />
      {list.hasMore && <MoreButton busy={list.loadingMore} onMore={list.more} />}
    </ListState>
  );
}

function Cost({ totals: { costUsd, unpriced } }: { totals: Totals }) {
  const text = useText(strings);
  if (costUsd === undefined) return <span className="text-muted">{text.unknown}</span>;
  if (unpriced === 0) return formatUsd(costUsd);
  return (
    <span title={text.costPartly(formatNumber(unpriced))}>
      ≥ {formatUsd(costUsd)}
      <span className="sr-only"> {text.costPartly(formatNumber(unpriced))}</span>
    </span>
  );
}
