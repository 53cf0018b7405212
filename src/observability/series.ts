/**
 * Counters and histograms that cost a map lookup to record. They render themselves in the
 * Prometheus text format, so that nothing of a metrics library is loaded before someone scrapes.
 */

/** Joins label values to a key; no value holds it, for it is removed from them. */
const SEPARATOR = '\u0000';

/** What a series holds now, for exporters. */
export interface SeriesData {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** Of a histogram. */
  bounds?: readonly number[];
  points: readonly SeriesPoint[];
}

interface SeriesPoint {
  labels: Readonly<Record<string, string>>;
  /** The sum of all values, of a histogram. */
  value: number;
  /** Of a histogram, one more than there are bounds. */
  counts?: readonly number[];
}

abstract class Labelled {
  readonly #labels: readonly string[];
  protected readonly name: string;

  constructor(name: string, labels: readonly string[]) {
    this.name = name;
    this.#labels = labels;
  }

  protected labelsOf(key: string): Record<string, string> {
    const values = key.split(SEPARATOR);
    return Object.fromEntries(this.#labels.map((label, index) => [label, values[index] ?? '']));
  }

  protected labelText(key: string, extra = ''): string {
    const values = key.split(SEPARATOR);
    const pairs = this.#labels.map((label, index) => `${label}="${escapeLabel(values[index] ?? '')}"`);
    if (extra !== '') pairs.push(extra);
    return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  }

  protected head(help: string, type: 'counter' | 'gauge' | 'histogram'): string {
    return `# HELP ${this.name} ${help}\n# TYPE ${this.name} ${type}\n`;
  }
}

export class Counter extends Labelled {
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string, labels: readonly string[]) {
    super(name, labels);
    this.#help = help;
  }

  /** Values in the order of the labels. */
  add(amount: number, ...values: string[]): void {
    const key = values.join(SEPARATOR);
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount);
  }

  render(): string {
    let text = this.head(this.#help, 'counter');
    for (const [key, value] of this.#values) text += `${this.name}${this.labelText(key)} ${value}\n`;
    return text;
  }

  collect(): SeriesData {
    const points = [...this.#values].map(([key, value]) => ({ labels: this.labelsOf(key), value }));
    return { name: this.name, help: this.#help, type: 'counter', points };
  }
}

export class Gauge extends Labelled {
  readonly #help: string;
  #value = 0;

  constructor(name: string, help: string) {
    super(name, []);
    this.#help = help;
  }

  add(amount: number): void {
    this.#value += amount;
  }

  render(): string {
    return `${this.head(this.#help, 'gauge')}${this.name} ${this.#value}\n`;
  }

  collect(): SeriesData {
    return { name: this.name, help: this.#help, type: 'gauge', points: [{ labels: {}, value: this.#value }] };
  }
}

interface Distribution {
  /** One more than there are bounds: the last counts what is above them all. */
  counts: Float64Array;
  sum: number;
}

export class Histogram extends Labelled {
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #values = new Map<string, Distribution>();

  constructor(name: string, help: string, labels: readonly string[], bounds: readonly number[]) {
    super(name, labels);
    this.#help = help;
    this.#bounds = bounds;
  }

  observe(value: number, ...values: string[]): void {
    const key = values.join(SEPARATOR);
    let found = this.#values.get(key);
    if (found === undefined) {
      found = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#values.set(key, found);
    }
    let slot = 0;
    while (slot < this.#bounds.length && value > (this.#bounds[slot] ?? 0)) slot++;
    found.counts[slot] = (found.counts[slot] ?? 0) + 1;
    found.sum += value;
  }

  render(): string {
    let text = this.head(this.#help, 'histogram');
    for (const [key, { counts, sum }] of this.#values) {
      let total = 0;
      for (const [slot, count] of counts.entries()) {
        total += count;
        const bound = this.#bounds[slot];
        const le = `le="${bound === undefined ? '+Inf' : bound}"`;
        text += `${this.name}_bucket${this.labelText(key, le)} ${total}\n`;
      }
      text += `${this.name}_sum${this.labelText(key)} ${sum}\n`;
      text += `${this.name}_count${this.labelText(key)} ${total}\n`;
    }
    return text;
  }

  collect(): SeriesData {
    const points = [...this.#values].map(([key, { counts, sum }]) => ({
      labels: this.labelsOf(key),
      value: sum,
      counts: [...counts],
    }));
    return { name: this.name, help: this.#help, type: 'histogram', bounds: this.#bounds, points };
  }
}

/** Of a counter or a gauge, in the text format of Prometheus. */
export function renderSeries({ name, help, type, points }: SeriesData): string {
  const lines = points.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** The first `limit` values keep their name, all later ones share one: a label that clients choose must be bounded. */
export class BoundedLabel {
  readonly #limit: number;
  readonly #known = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Makes `value` known where there is room. */
  admit(value: string): void {
    if (this.#known.size < this.#limit) this.#known.add(clean(value));
  }

  of(value: string | undefined): string {
    if (value === undefined) return '';
    const cleaned = clean(value);
    return this.#known.has(cleaned) ? cleaned : 'other';
  }
}

function clean(value: string): string {
  return value.replaceAll(SEPARATOR, '').slice(0, 128);
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));
}
