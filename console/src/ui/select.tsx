import { useId } from 'react';
import { classes } from './classes.js';
import { ChevronDownIcon } from './icons.js';

interface SelectOption<V extends string = string> {
  value: V;
  label: string;
  hint?: string | undefined;
  disabled?: boolean | undefined;
  /** Options of the same group are listed together under its name. */
  group?: string | undefined;
}

interface SelectProps<V extends string = string> {
  label: string;
  value: V;
  options: readonly SelectOption<V>[];
  onChange: (value: V) => void;
  hideLabel?: boolean | undefined;
  disabled?: boolean | undefined;
  className?: string | undefined;
}

/** The browser's own: right on every phone and with every screen reader. */
export function Select<V extends string = string>({
  label,
  value,
  options,
  onChange,
  hideLabel = false,
  disabled = false,
  className,
}: SelectProps<V>) {
  const id = useId();
  const known = options.some((option) => option.value === value);
  return (
    <span className={classes('inline-flex max-w-full min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      <span className="relative inline-flex min-w-0">
        <select
          id={id}
          value={value}
          disabled={disabled}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.target.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
          className="min-h-9 w-full min-w-0 appearance-none truncate rounded-md border border-line bg-surface py-1.5 pr-8 pl-3 text-sm text-ink disabled:opacity-55"
        >
          {!known && <option value={value}>{value}</option>}
          {groups(options).map(({ group, members }) =>
            group === undefined ? (
              members.map((option) => <Choice key={option.value} option={option} />)
            ) : (
              <optgroup key={group} label={group}>
                {members.map((option) => (
                  <Choice key={option.value} option={option} />
                ))}
              </optgroup>
            ),
          )}
        </select>
        <ChevronDownIcon className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-muted" />
      </span>
    </span>
  );
}

function Choice({ option }: { option: SelectOption }) {
  return (
    <option value={option.value} disabled={option.disabled}>
      {option.hint === undefined ? option.label : `${option.label} · ${option.hint}`}
    </option>
  );
}

function groups<V extends string>(
  options: readonly SelectOption<V>[],
): { group: string | undefined; members: SelectOption<V>[] }[] {
  const found = new Map<string | undefined, SelectOption<V>[]>();
  for (const option of options) {
    const members = found.get(option.group) ?? [];
    members.push(option);
    found.set(option.group, members);
  }
  return [...found].map(([group, members]) => ({ group, members }));
}
