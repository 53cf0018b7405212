/** Figures of the store as gauges, asked for at most every few seconds, however often they are read. */
import { renderSeries, type SeriesData } from './series.js';

interface Figures {
  /** How many sessions are in which state. */
  sessions: Readonly<Record<string, number>>;
  /** Approvals that wait for a person. */
  approvalsWaiting: number;
  /** Leases that are held. */
  leases: number;
}

const KEPT_MS = 10_000;

export class StoreGauges {
  readonly #ask: () => Promise<Figures>;
  #askedAt = Number.NEGATIVE_INFINITY;
  #series: Promise<readonly SeriesData[]> = Promise.resolve([]);

  constructor(ask: () => Promise<Figures>) {
    this.#ask = ask;
  }

  /** Only that it is away while the store does not answer: a scrape has the other figures all the same. */
  collect(now = performance.now()): Promise<readonly SeriesData[]> {
    if (now - this.#askedAt >= KEPT_MS) {
      this.#askedAt = now;
      this.#series = this.#ask().then(
        (figures) => [...availability(1, performance.now() - now), ...seriesOf(figures)],
        () => availability(0, performance.now() - now),
      );
    }
    return this.#series;
  }

  async render(now = performance.now()): Promise<string> {
    return (await this.collect(now)).map(renderSeries).join('');
  }
}

function seriesOf({ sessions, approvalsWaiting, leases }: Figures): SeriesData[] {
  const states = Object.entries(sessions).map(([state, value]) => ({ labels: { state }, value }));
  return [
    gauge('toolgate_sessions', 'Sessions in the store, by state.', states),
    gauge('toolgate_approvals_waiting', 'Approvals that wait for a person.', [
      { labels: {}, value: approvalsWaiting },
    ]),
    gauge('toolgate_leases', 'Leases of sessions that are held.', [{ labels: {}, value: leases }]),
  ];
}

function availability(up: 0 | 1, ms: number): SeriesData[] {
  return [
    gauge('toolgate_store_up', '1 where the store answers.', [{ labels: {}, value: up }]),
    gauge('toolgate_store_answer_seconds', 'How long the store took to give these figures.', [
      { labels: {}, value: Math.max(0, ms) / 1000 },
    ]),
  ];
}

function gauge(name: string, help: string, points: SeriesData['points']): SeriesData {
  return { name, help, type: 'gauge', points };
}
