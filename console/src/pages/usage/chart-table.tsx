import { useText } from '../../text/language.js';
import { scrollRegion } from '../../ui/scroll-region.js';
import type { Series } from './figures.js';
import { strings } from './strings.js';

const NAME_LENGTH = 60;

/** The figures of a chart; times without any are left out. */
export function ChartTable({
  title,
  labels,
  series,
  format,
}: {
  title: string;
  labels: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
}) {
  const text = useText(strings);
  const rows = labels
    .map((label, index) => ({ label, values: series.map(({ values }) => values[index]) }))
    .filter(({ values }) => values.some((value) => value !== undefined && value !== 0));
  return (
    <div {...scrollRegion(text.figures(title))} className="max-h-64 overflow-auto">
      <table className="w-full border-collapse text-xs" aria-label={text.figures(title)}>
        <thead>
          <tr className="border-b border-line text-left text-muted">
            <th scope="col" className="py-1 pr-3 font-medium">
              {text.time}
            </th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="max-w-40 truncate py-1 pl-3 text-right font-medium">
                {name.slice(0, NAME_LENGTH)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, values }) => (
            <tr key={label} className="border-b border-line/60 last:border-b-0">
              <th scope="row" className="py-1 pr-3 text-left font-normal whitespace-nowrap">
                {label}
              </th>
              {values.map((value, index) => (
                <td key={series[index]?.name} className="py-1 pl-3 text-right whitespace-nowrap tabular-nums">
                  {value === undefined ? text.unknown : format(value)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={series.length + 1} className="py-2 text-muted">
                {text.nothing}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
