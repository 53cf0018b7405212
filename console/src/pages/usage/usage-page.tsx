/** What was used: in all, over time, and by model, key or team. */
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { UsageRowWire, UsageWire } from '../../../../src/server/console-api/wire/usage.js';
import { useIdentity } from '../../data/identity.js';
import { useConsole } from '../../data/store.js';
import { langTag, useLanguage, useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { formatDuration, formatNumber, formatPercent, formatTokens, formatUsd } from '../../ui/format.js';
import { ChartIcon, DownloadIcon } from '../../ui/icons.js';
import { Page, Section } from '../../ui/page.js';
import { saveText } from '../../ui/save.js';
import { Select } from '../../ui/select.js';
import { ListState } from '../shared/list-state.js';
import { useFetched } from '../shared/use-fetched.js';
import { getAllPages, withParameters } from '../shared/use-pages.js';
import { useQuery } from '../shared/use-query.js';
import { Chart } from './chart.js';
import {
  ASKED_GROUPS,
  type Bucket,
  bucketsOf,
  byBucket,
  GROUPS,
  type Group,
  isRange,
  linesBy,
  RANGES,
  type Range,
  type Series,
  type Totals,
  totalsOf,
  usageCsv,
  utcOffset,
} from './figures.js';
import { durationScale, niceScale, wholeScale } from './scale.js';
import { strings } from './strings.js';
import { UsageTable } from './usage-table.js';

const RANGE_NAMES = ['24h', '7d', '30d'] as const;

export function UsagePage() {
  const text = useText(strings);
  const [query, setQuery] = useQuery();
  const given = query.get('range');
  const range: Range = isRange(given) ? given : '7d';
  const group: Group = GROUPS.find((each) => each === query.get('by')) ?? 'model';
  const admin = useIdentity().can('admin');
  const change = useConsole((state) => state.changes.requests);
  const now = useNow();
  const buckets = useMemo(() => bucketsOf(range, now), [range, now]);
  const path = withParameters('/api/usage', {
    from: buckets[0]?.begins.toISOString(),
    utc_offset_minutes: String(utcOffset(now)),
  });
  const { step } = RANGES[range];
  const top = String(ASKED_GROUPS);
  const usage = useFetched<UsageWire>(
    withParameters(path, { by: `${step},${group}`, top, histograms: '1' }),
    change,
  );
  const rows = usage.data?.data ?? [];
  const saveCsv = async () => {
    const all = await getAllPages<UsageRowWire>(withParameters(path, { by: `${step},model,key` }));
    saveText(`toolgate-usage-${range}.csv`, 'text/csv;charset=utf-8', usageCsv(all));
  };
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
          <Button icon={<DownloadIcon />} disabled={rows.length === 0} onClick={() => void saveCsv()}>
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
          <EmptyState title={text.emptyTitle} text={text.emptyText} icon={<ChartIcon size={22} />} />
        ) : (
          <>
            <Tiles rows={rows} listPricesDate={usage.data?.list_prices_date} />
            <Charts rows={rows} buckets={buckets} range={range} group={group} />
            <Section title={text.groups[group]}>
              <UsageTable path={path} change={change} group={group} />
            </Section>
          </>
        )}
      </ListState>
    </Page>
  );
}

function Tiles({
  rows,
  listPricesDate,
}: {
  rows: readonly UsageRowWire[];
  listPricesDate: string | undefined;
}) {
  const text = useText(strings);
  const totals = useMemo(() => totalsOf(rows), [rows]);
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
          <>
            {costUsd === undefined
              ? text.costUnknown
              : unpriced > 0
                ? text.costPartly(formatNumber(unpriced))
                : text.costWhole}
            {costUsd !== undefined && listPricesDate !== undefined && (
              <span className="block">{text.listPrices(listPricesDate)}</span>
            )}
          </>
        }
      />
      <Tile
        label={text.latencyMedian}
        value={formatDuration(totals.medianLatencyMs ?? 0)}
        note={
          // Each part on a line of its own, where both do not fit on one.
          <>
            <span className="inline-block">
              {text.latencyMost(formatDuration(totals.p95LatencyMs ?? 0))} ·
            </span>{' '}
            <span className="inline-block">{text.latencyMax(formatDuration(totals.maxLatencyMs ?? 0))}</span>
          </>
        }
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
  rows: readonly UsageRowWire[];
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
        scale={wholeScale}
      />
      <Chart
        {...shared}
        title={text.tokens}
        kind="bars"
        series={series.tokens}
        format={formatTokens}
        scale={wholeScale}
      />
      <Chart
        {...shared}
        title={text.cost}
        kind="bars"
        series={series.cost}
        format={(value) => formatUsd(value)}
        scale={niceScale}
      />
      {LATENCIES.map((name) => (
        <Chart
          key={name}
          {...shared}
          title={text[name]}
          kind="lines"
          series={series[name]}
          format={formatDuration}
          scale={durationScale}
        />
      ))}
    </div>
  );
}

type Words = (typeof strings)['en'];

const LATENCIES = ['latencyMedian', 'latencyP95', 'firstTokenMedian'] as const;

function seriesOf(
  rows: readonly UsageRowWire[],
  buckets: readonly Bucket[],
  group: Group,
  text: Words,
): Record<'requests' | 'tokens' | 'cost' | (typeof LATENCIES)[number], Series[]> {
  const lines = linesBy(rows, buckets, group, text.others);
  const all = byBucket(rows, buckets);
  const grouped = (value: (totals: Totals) => number | undefined): Series[] =>
    lines.map(({ name, totals }) => ({ name: name === '' ? text.noName : name, values: totals.map(value) }));
  return {
    requests: grouped(({ requests }) => requests),
    tokens: [
      { name: text.input, values: all.map((totals) => totals.input_tokens) },
      { name: text.output, values: all.map((totals) => totals.output_tokens) },
      { name: text.cacheRead, values: all.map((totals) => totals.cache_read_tokens) },
      { name: text.cacheWrite, values: all.map((totals) => totals.cache_write_tokens) },
    ],
    cost: grouped(({ costUsd }) => costUsd),
    latencyMedian: grouped(({ medianLatencyMs }) => medianLatencyMs),
    latencyP95: grouped(({ p95LatencyMs }) => p95LatencyMs),
    firstTokenMedian: grouped(({ medianFirstTokenMs }) => medianFirstTokenMs),
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
