/** What was used: in all, over time, and by model or key. */
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useIdentity } from '../../app/identity.js';
import { useConsole } from '../../data/store.js';
import { langTag, useLanguage, useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { formatDuration, formatNumber, formatPercent, formatTokens, formatUsd } from '../../ui/format.js';
import { DownloadIcon } from '../../ui/icons.js';
import { Page, Section } from '../../ui/page.js';
import { Select } from '../../ui/select.js';
import { download } from '../shared/download.js';
import { ListState } from '../shared/list-state.js';
import { useFetched } from '../shared/use-fetched.js';
import { withParameters } from '../shared/use-pages.js';
import { useQuery } from '../shared/use-query.js';
import { Chart } from './chart.js';
import {
  type Bucket,
  bucketsOf,
  byBucket,
  type Group,
  isRange,
  RANGES,
  type Range,
  type Series,
  seriesBy,
  type Totals,
  totalsOf,
  type UsageAnswer,
  type UsageRow,
  usageCsv,
  utcOffset,
} from './figures.js';
import { strings } from './strings.js';
import { UsageTable } from './usage-table.js';

const RANGE_NAMES = ['24h', '7d', '30d'] as const;
const GROUPS = ['model', 'key'] as const;

export function UsagePage() {
  const text = useText(strings);
  const [query, setQuery] = useQuery();
  const given = query.get('range');
  const range: Range = isRange(given) ? given : '7d';
  const group: Group = query.get('by') === 'key' ? 'key' : 'model';
  const admin = useIdentity().can('admin');
  const change = useConsole((state) => state.changes.requests);
  const now = useNow();
  const buckets = useMemo(() => bucketsOf(range, now), [range, now]);
  const usage = useFetched<UsageAnswer>(
    withParameters('/api/usage', {
      by: `${RANGES[range].step},model,key`,
      from: buckets[0]?.begins.toISOString(),
      utc_offset_minutes: String(utcOffset(now)),
    }),
    change,
  );
  const rows = usage.data?.data ?? [];
  const saveCsv = () => download(`toolgate-usage-${range}.csv`, 'text/csv;charset=utf-8', usageCsv(rows));
  return (
    <Page
      title={text.title}
      intro={`${text.intro} ${admin ? text.allKeys : text.ownKey}`}
      width="full"
      actions={
        <>
          <Select
            label={text.range}
            hideLabel
            value={range}
            options={RANGE_NAMES.map((value) => ({ value, label: text.ranges[value] }))}
            onChange={(next) => setQuery({ range: next })}
          />
          <Select
            label={text.group}
            hideLabel
            value={group}
            options={GROUPS.map((value) => ({ value, label: text.groups[value] }))}
            onChange={(next) => setQuery({ by: next })}
          />
          <Button icon={<DownloadIcon />} disabled={rows.length === 0} onClick={saveCsv}>
            {text.csv}
          </Button>
        </>
      }
    >
      <ListState
        loading={usage.loading}
        error={usage.error}
        present={usage.data !== undefined}
        onReload={usage.reload}
      >
        {rows.length === 0 ? (
          <EmptyState title={text.emptyTitle} text={text.emptyText} />
        ) : (
          <>
            <Tiles totals={totalsOf(rows)} />
            <Charts rows={rows} buckets={buckets} range={range} group={group} />
            <Section title={group === 'model' ? text.byModel : text.byKey}>
              <UsageTable rows={rows} group={group} />
            </Section>
          </>
        )}
      </ListState>
    </Page>
  );
}

function Tiles({ totals }: { totals: Totals }) {
  const text = useText(strings);
  const { requests, errors, costUsd, unpriced } = totals;
  const tokens =
    totals.input_tokens + totals.output_tokens + totals.cache_read_tokens + totals.cache_write_tokens;
  return (
    <dl className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Tile
        label={text.requests}
        value={formatNumber(requests)}
        note={
          errors === 0 ? text.noErrors : text.errors(formatNumber(errors), formatPercent(errors / requests))
        }
      />
      <Tile
        label={text.tokens}
        value={formatTokens(tokens)}
        note={text.tokensParts(
          formatTokens(totals.input_tokens),
          formatTokens(totals.output_tokens),
          formatTokens(totals.cache_read_tokens),
        )}
      />
      <Tile
        label={text.cost}
        value={formatUsd(costUsd, text.unknown)}
        note={
          costUsd === undefined
            ? text.costUnknown
            : unpriced > 0
              ? text.costPartly(formatNumber(unpriced))
              : text.costWhole
        }
      />
      <Tile
        label={text.latency}
        value={formatDuration(totals.meanLatencyMs ?? 0)}
        note={text.latencyMax(formatDuration(totals.maxLatencyMs ?? 0))}
      />
    </dl>
  );
}

function Tile({ label, value, note }: { label: string; value: string; note: ReactNode }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="mt-0.5 text-xl font-semibold tabular-nums">{value}</dd>
      <dd className="text-xs break-words text-muted">{note}</dd>
    </div>
  );
}

interface ChartsProps {
  rows: readonly UsageRow[];
  buckets: readonly Bucket[];
  range: Range;
  group: Group;
}

function Charts({ rows, buckets, range, group }: ChartsProps) {
  const text = useText(strings);
  const language = useLanguage();
  const labels = useMemo(() => {
    const hours = RANGES[range].step === 'hour';
    const format = new Intl.DateTimeFormat(
      langTag(language),
      hours ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : { month: 'short', day: 'numeric' },
    );
    return buckets.map(({ begins }) => format.format(begins));
  }, [buckets, range, language]);
  const series = useMemo(() => seriesOf(rows, buckets, group, text), [rows, buckets, group, text]);
  const hint = RANGES[range].step === 'hour' ? text.perHour : text.perDay;
  const shared = { labels, hint };
  return (
    <div className="mb-6 grid gap-3 xl:grid-cols-2">
      <Chart
        {...shared}
        title={text.requests}
        kind="bars"
        series={series.requests}
        format={formatNumber}
        whole
      />
      <Chart {...shared} title={text.tokens} kind="bars" series={series.tokens} format={formatTokens} whole />
      <Chart
        {...shared}
        title={text.cost}
        kind="bars"
        series={series.cost}
        format={(value) => formatUsd(value)}
      />
      <Chart {...shared} title={text.latency} kind="lines" series={series.latency} format={formatDuration} />
    </div>
  );
}

type Words = (typeof strings)['en'];

function seriesOf(
  rows: readonly UsageRow[],
  buckets: readonly Bucket[],
  group: Group,
  text: Words,
): Record<'requests' | 'tokens' | 'cost' | 'latency', Series[]> {
  const grouped = (value: (totals: Totals) => number | undefined): Series[] =>
    seriesBy(rows, buckets, group, text.others, value).map((each) => ({
      ...each,
      name: each.name === '' ? text.noName : each.name,
    }));
  const all = (name: string, value: (totals: Totals) => number | undefined): Series => ({
    name,
    values: byBucket(rows, buckets, value),
  });
  return {
    requests: grouped(({ requests }) => requests),
    tokens: [
      all(text.input, (totals) => totals.input_tokens),
      all(text.output, (totals) => totals.output_tokens),
      all(text.cacheRead, (totals) => totals.cache_read_tokens),
      all(text.cacheWrite, (totals) => totals.cache_write_tokens),
    ],
    cost: grouped(({ costUsd }) => costUsd),
    latency: grouped(({ meanLatencyMs }) => meanLatencyMs),
  };
}

const MINUTE_MS = 60_000;

/** Becomes another only when an hour begins: that is when the buckets do. */
function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => {
      const next = new Date();
      setNow((before) =>
        before.getHours() === next.getHours() && before.getDate() === next.getDate() ? before : next,
      );
    }, MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
