/** A small chart: bars upon each other or lines, with the same figures as a table. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { ChartTable } from './chart-table.js';
import type { Series } from './figures.js';
import { PATTERNS, PatternDefinitions, Swatch } from './patterns.js';
import { labelledIndexes, linePath, type Scale, stack } from './scale.js';
import { strings } from './strings.js';

interface ChartProps {
  title: string;
  hint: string;
  kind: 'bars' | 'lines';
  /** One for each value of a series. */
  labels: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  /** Labels of the value axis, for values up to this one. */
  scale: (most: number) => Scale;
}

const HEIGHT = 180;
const TOP = 8;
const BOTTOM = 20;
const LEFT = 52;
const RIGHT = 4;
const LABEL_WIDTH = 56;

export function Chart({ title, hint, kind, labels, series, format, scale }: ChartProps) {
  const text = useText(strings);
  const [table, setTable] = useState(false);
  return (
    <section aria-label={title} className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="mb-2 flex flex-wrap items-baseline gap-x-2">
        <h2 className="text-sm font-semibold">{title}</h2>
        <span className="text-xs text-muted">{hint}</span>
        <Button
          size="small"
          variant="ghost"
          className="ml-auto"
          aria-label={`${title}: ${table ? text.asChart : text.asTable}`}
          onClick={() => setTable(!table)}
        >
          {table ? text.asChart : text.asTable}
        </Button>
      </div>
      {table ? (
        <ChartTable title={title} labels={labels} series={series} format={format} />
      ) : (
        <Drawing title={title} kind={kind} labels={labels} series={series} format={format} scale={scale} />
      )}
    </section>
  );
}

function Drawing({ title, kind, labels, series, format, scale: scaleFor }: Omit<ChartProps, 'hint'>) {
  const text = useText(strings);
  const id = useId();
  const [box, width] = useWidth();
  const [at, setAt] = useState<number>();
  const scale = scaleFor(greatest(series, kind));
  const inner = Math.max(1, width - LEFT - RIGHT);
  const step = inner / Math.max(1, labels.length);
  const x = (index: number): number => LEFT + index * step;
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / scale.max);
  const shown = labelledIndexes(labels.length, inner, LABEL_WIDTH);
  const move = (event: KeyboardEvent) => {
    const last = labels.length - 1;
    const from = at ?? last;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(at === undefined ? last : Math.min(last, Math.max(0, to)));
  };
  return (
    <div ref={box} className="min-w-0">
      <div
        role="slider"
        tabIndex={0}
        aria-label={`${title}. ${text.chartHint}`}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, labels.length - 1)}
        aria-valuenow={at ?? Math.max(0, labels.length - 1)}
        aria-valuetext={readout(labels, series, at ?? labels.length - 1, format, text.nothing)}
        onKeyDown={move}
        onFocus={() => setAt((before) => before ?? labels.length - 1)}
        onBlur={() => setAt(undefined)}
        onPointerLeave={() => setAt(undefined)}
        onPointerMove={(event) => {
          const left = event.currentTarget.getBoundingClientRect().left;
          const index = Math.floor((event.clientX - left - LEFT) / step);
          setAt(index >= 0 && index < labels.length ? index : undefined);
        }}
        className="rounded"
      >
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-labelledby={`${id}-title ${id}-desc`}
          className="block max-w-full"
        >
          <title id={`${id}-title`}>{title}</title>
          <desc id={`${id}-desc`}>{series.map(({ name }) => name).join(', ')}</desc>
          <PatternDefinitions id={id} />
          <Grid scale={scale} width={width} y={y} format={format} />
          {at !== undefined && (
            <rect
              x={x(at)}
              y={TOP}
              width={step}
              height={HEIGHT - TOP - BOTTOM}
              className="fill-ink opacity-10"
            />
          )}
          {kind === 'bars' ? (
            <Bars id={id} series={series} labels={labels} x={x} y={y} step={step} />
          ) : (
            <Lines series={series} x={(index) => x(index) + step / 2} y={y} />
          )}
          {labels.map((label, index) =>
            shown.has(index) ? (
              <text
                key={label}
                x={x(index) + step / 2}
                y={HEIGHT - 5}
                textAnchor={index === labels.length - 1 && step < LABEL_WIDTH ? 'end' : 'middle'}
                dx={index === labels.length - 1 && step < LABEL_WIDTH ? step / 2 : 0}
                className="fill-muted text-[10px]"
              >
                {label}
              </text>
            ) : null,
          )}
        </svg>
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs" aria-label={title}>
        {series.map(({ name, values }, index) => (
          <li key={name} className="flex min-w-0 items-center gap-1.5">
            <Swatch index={index} kind={kind} />
            <span className="max-w-48 truncate" title={name.slice(0, 300)}>
              {name.slice(0, 300)}
            </span>
            {at !== undefined && (
              <span className="text-muted tabular-nums">
                {values[at] === undefined ? text.unknown : format(values[at])}
              </span>
            )}
          </li>
        ))}
        {at !== undefined && <li className="text-muted">{labels[at]}</li>}
      </ul>
    </div>
  );
}

function Grid({
  scale,
  width,
  y,
  format,
}: {
  scale: Scale;
  width: number;
  y: (value: number) => number;
  format: (value: number) => string;
}) {
  return (
    <>
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line
            x1={LEFT}
            x2={width - RIGHT}
            y1={y(tick)}
            y2={y(tick)}
            className="stroke-line"
            strokeWidth={1}
          />
          <text x={LEFT - 6} y={y(tick) + 3} textAnchor="end" className="fill-muted text-[10px]">
            {format(tick)}
          </text>
        </g>
      ))}
    </>
  );
}

interface DrawProps {
  series: readonly Series[];
  x: (index: number) => number;
  y: (value: number) => number;
}

function Bars({
  id,
  series,
  labels,
  x,
  y,
  step,
}: DrawProps & { id: string; labels: readonly string[]; step: number }) {
  const gap = Math.min(6, step * 0.2);
  return (
    <>
      {labels.map((label, index) =>
        stack(series.map(({ values }) => values[index])).map(([from, to], part) =>
          to > from ? (
            <rect
              key={`${label} ${series[part]?.name}`}
              data-bar={series[part]?.name.slice(0, 100)}
              x={x(index) + gap / 2}
              width={Math.max(1, step - gap)}
              y={y(to)}
              height={Math.max(0.5, y(from) - y(to))}
              fill={`url(#${id}-${part % PATTERNS.length})`}
            />
          ) : null,
        ),
      )}
    </>
  );
}

function Lines({ series, x, y }: DrawProps) {
  return (
    <>
      {series.map(({ name, values }, part) => {
        const pattern = PATTERNS[part % PATTERNS.length];
        const points = values.map((value, index) =>
          value === undefined ? undefined : { x: x(index), y: y(value) },
        );
        return (
          <g key={name} className={pattern?.colour} fill="currentColor" stroke="currentColor">
            <path d={linePath(points)} fill="none" strokeWidth={2} strokeDasharray={pattern?.dash} />
            {points.map((point) =>
              point === undefined ? null : (
                <circle key={point.x} cx={point.x} cy={point.y} r={2.5} stroke="none" />
              ),
            )}
          </g>
        );
      })}
    </>
  );
}

function greatest(series: readonly Series[], kind: ChartProps['kind']): number {
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  return Math.max(
    0,
    ...Array.from({ length: count }, (_, index) => {
      const values = series.map((each) => each.values[index] ?? 0);
      return kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
    }),
  );
}

function readout(
  labels: readonly string[],
  series: readonly Series[],
  at: number,
  format: (value: number) => string,
  nothing: string,
): string {
  const parts = series.flatMap(({ name, values }) => {
    const value = values[at];
    return value === undefined || value === 0 ? [] : [`${name.slice(0, 100)} ${format(value)}`];
  });
  return `${labels[at] ?? ''}: ${parts.length === 0 ? nothing : parts.join(', ')}`;
}

function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [box, width];
}
