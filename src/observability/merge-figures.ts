/** The figures of several processes as those of one: counts and amounts are added, states are the worst of them. */

type Combine = (left: number, right: number) => number;

const add: Combine = (left, right) => left + right;

/** By the beginning of the name. What is in no row is added. */
const COMBINED: readonly (readonly [prefix: string, combine: Combine])[] = [
  ['nodejs_eventloop_lag', Math.max],
  ['nodejs_version_info', Math.max],
  // The share of open files is that of the process with the most.
  ['process_open_fds', Math.max],
  ['process_max_fds', Math.max],
  ['process_start_time_seconds', Math.min],
  ['toolgate_breaker_open', Math.max],
  ['toolgate_upstream_up', Math.min],
];

const combineOf = (name: string): Combine => COMBINED.find(([prefix]) => name.startsWith(prefix))?.[1] ?? add;

interface Family {
  head: string[];
  values: Map<string, number>;
}

/** Texts in the format of Prometheus, as this gateway writes them. */
export function mergeFigures(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    for (const [name, { head, values }] of familiesIn(text)) {
      const known = families.get(name);
      if (known === undefined) families.set(name, { head, values: new Map(values) });
      else addTo(known, values, combineOf(name));
    }
  }
  return [...families.values()].map(render).join('');
}

/** What only grows. The rest is of no process that has ended. */
export function countersOf(text: string): string {
  return [...familiesIn(text).values()]
    .filter(({ head }) => head.some((line) => /^# TYPE \S+ (?:counter|histogram)$/.test(line)))
    .map(render)
    .join('');
}

function addTo(known: Family, values: ReadonlyMap<string, number>, combine: Combine): void {
  for (const [series, value] of values) {
    const before = known.values.get(series);
    // prom-client says NaN for what it has not measured yet.
    const isFirst = before === undefined || Number.isNaN(before);
    if (isFirst || !Number.isNaN(value)) known.values.set(series, isFirst ? value : combine(before, value));
  }
}

function familiesIn(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let family: Family = { head: [], values: new Map() };
  for (const line of text.split('\n')) {
    const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
    if (name !== undefined) {
      const found = families.get(name);
      family = found ?? { head: [], values: new Map() };
      if (found === undefined) families.set(name, family);
      family.head.push(line);
    } else if (line !== '' && !line.startsWith('#')) {
      const end = line.lastIndexOf(' ');
      family.values.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return families;
}

function render({ head, values }: Family): string {
  const lines = [...head, ...[...values].map(([series, value]) => `${series} ${textOf(value)}`)];
  return lines.map((line) => `${line}\n`).join('');
}

/** As Prometheus reads it. */
function textOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
