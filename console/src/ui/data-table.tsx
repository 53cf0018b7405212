import { type ReactNode, useMemo, useState } from 'react';
import { useText } from '../text/language.js';
import { classes } from './classes.js';
import { ArrowDownIcon, ArrowUpIcon } from './icons.js';
import { strings } from './strings.js';
import { usePhone } from './use-media.js';

export interface Column<T> {
  id: string;
  label: string;
  render: (row: T) => ReactNode;
  /** Numbers are aligned to the end. */
  align?: 'start' | 'end' | undefined;
  /** Makes the column sortable. */
  compare?: ((a: T, b: T) => number) | undefined;
  /** Has buttons or links of its own: they stay above what opens the row. */
  interactive?: boolean | undefined;
  /** The label is not shown (it is read out). */
  hideLabel?: boolean | undefined;
  /** Classes of its cells, such as `w-32` or `max-w-60 truncate`. */
  className?: string | undefined;
}

interface DataTableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Opens a row; the first column is what is pressed, and the whole row takes the pointer. */
  rowHref?: ((row: T) => string) | undefined;
  /** Shown instead of rows. */
  empty?: ReactNode;
}

interface Sorting {
  column: string;
  down: boolean;
}

/** A table; on a phone a list of cards, with the first column as the heading of each. */
export function DataTable<T>({ label, columns, rows, rowKey, rowHref, empty }: DataTableProps<T>) {
  const phone = usePhone();
  const [sorting, setSorting] = useState<Sorting>();
  const sorted = useMemo(() => sort(rows, columns, sorting), [rows, columns, sorting]);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  if (phone) return <Cards label={label} columns={columns} rows={sorted} rowKey={rowKey} rowHref={rowHref} />;
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full border-collapse text-sm" aria-label={label}>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <HeadCell
                key={column.id}
                column={column}
                sorting={sorting}
                onSort={() => setSorting(nextSorting(sorting, column.id))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr
              key={rowKey(row)}
              className={classes(
                'relative border-b border-line last:border-b-0',
                rowHref !== undefined && 'hover:bg-raised',
              )}
            >
              {columns.map((column, index) => (
                <td
                  key={column.id}
                  className={classes(
                    'px-3 py-2 align-top',
                    column.align === 'end' && 'text-right tabular-nums',
                    column.interactive === true && 'relative z-10',
                    column.className,
                  )}
                >
                  {index === 0 && rowHref !== undefined ? (
                    <Opener href={rowHref(row)}>{column.render(row)}</Opener>
                  ) : (
                    column.render(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeadCell<T>({
  column,
  sorting,
  onSort,
}: {
  column: Column<T>;
  sorting: Sorting | undefined;
  onSort: () => void;
}) {
  const text = useText(strings);
  const active = sorting?.column === column.id;
  const order = active ? (sorting.down ? 'descending' : 'ascending') : undefined;
  return (
    <th
      scope="col"
      aria-sort={order}
      className={classes('px-3 py-2 font-medium', column.align === 'end' && 'text-right', column.className)}
    >
      {column.compare === undefined ? (
        <span className={classes(column.hideLabel === true && 'sr-only')}>{column.label}</span>
      ) : (
        <button
          type="button"
          onClick={onSort}
          title={text.sortBy(column.label)}
          className="inline-flex cursor-pointer items-center gap-1 rounded hover:text-ink"
        >
          {column.label}
          {active && (sorting.down ? <ArrowDownIcon size={12} /> : <ArrowUpIcon size={12} />)}
        </button>
      )}
    </th>
  );
}

function Cards<T>({ label, columns, rows, rowKey, rowHref }: Omit<DataTableProps<T>, 'empty'>) {
  const [first, ...others] = columns;
  return (
    <ul aria-label={label} className="flex flex-col gap-2">
      {rows.map((row) => (
        <li
          key={rowKey(row)}
          className="relative rounded-lg border border-line bg-surface px-3 py-2.5 text-sm"
        >
          <div className="font-medium break-words">
            {first !== undefined &&
              (rowHref === undefined ? (
                first.render(row)
              ) : (
                <Opener href={rowHref(row)}>{first.render(row)}</Opener>
              ))}
          </div>
          <dl className="mt-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
            {others.map((column) => (
              <div key={column.id} className="col-span-2 grid grid-cols-subgrid items-baseline">
                <dt className={classes('text-xs text-muted', column.hideLabel === true && 'sr-only')}>
                  {column.label}
                </dt>
                <dd
                  className={classes(
                    'min-w-0 break-words',
                    column.interactive === true && 'relative z-10',
                    column.hideLabel === true && 'col-span-2',
                  )}
                >
                  {column.render(row)}
                </dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

/** A link as large as its row: it opens in a new tab as any other, and the row has one name. */
function Opener({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a
      href={href}
      className="text-left font-medium text-inherit no-underline after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
    >
      {children}
    </a>
  );
}

function nextSorting(current: Sorting | undefined, column: string): Sorting | undefined {
  if (current?.column !== column) return { column, down: true };
  return current.down ? { column, down: false } : undefined;
}

function sort<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sorting: Sorting | undefined,
): readonly T[] {
  const compare = columns.find((column) => column.id === sorting?.column)?.compare;
  if (sorting === undefined || compare === undefined) return rows;
  return rows.toSorted((a, b) => (sorting.down ? -compare(a, b) : compare(a, b)));
}
