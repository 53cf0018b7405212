/** The figures of a run as Markdown: absolute, as ratios to nginx, and next to the goals. */
import { median, spread, table } from '../lib/stats.mjs';

/** Of the gateway, with auth, logs, metrics and the lifecycle guard on. CPU as a multiple of nginx's. */
const GOALS = {
  json: { text: 'CPU of a 49 KB JSON request', ratio: 10 },
  paced: { text: 'CPU of a paced stream event', ratio: 2.5 },
  burst: { text: 'CPU of a burst stream of 285 events', ratio: 13 },
};
const MAX_STREAM_KB = 100;
const MAX_ADDED_MS = 1.6;
const MAX_IDLE_MB = 80;
const DIRECTIONS = ['forward', 'reverse'];

function collect(result, direction, mode, key) {
  return result.figures
    .filter((each) => each.direction === direction && each.mode === mode)
    .map((each) => each[key]);
}

const cell = (values, digits) => (values.length === 0 ? '—' : spread(values, digits));
const verdict = (value, limit) => (value <= limit ? 'met' : '**missed**');

function absolute(results, direction) {
  const base = collect(results.get('direct'), direction, 'first', 'firstByteMs');
  const rows = [
    ['target', 'JSON CPU ms', 'JSON req/s', 'burst CPU ms', 'paced CPU µs/event', 'added TTFT ms'],
  ];
  for (const [name, result] of results) {
    const get = (mode, key) => collect(result, direction, mode, key);
    const milli = (values) => values.map((value) => value / 1000);
    const isDirect = name === 'direct';
    rows.push([
      isDirect ? 'direct (the mock itself)' : name,
      cell(milli(get('json', 'cpuUs')), 3),
      cell(get('json', 'perSecond'), 0),
      cell(milli(get('burst', 'cpuUs')), 3),
      cell(get('paced', 'cpuUs'), 1),
      isDirect
        ? `(${cell(base, 2)})`
        : cell(
            get('first', 'firstByteMs').map((value, i) => value - base[i]),
            2,
          ),
    ]);
  }
  return table(rows);
}

function footprints(results) {
  const rows = [['target', 'start ms', 'idle MB', 'KB/stream']];
  for (const [name, { footprints: found }] of results) {
    if (found.length === 0) continue;
    const part = (key, digits) =>
      spread(
        found.map((each) => each[key]),
        digits,
      );
    rows.push([name, part('startMs', 0), part('idleMb', 1), part('perStreamKb', 0)]);
  }
  return table(rows);
}

/** Ratios are taken round by round, so that both sides saw the same neighbours. */
function ratio(results, name, direction, mode) {
  const own = collect(results.get(name), direction, mode, 'cpuUs');
  const nginx = collect(results.get('nginx'), direction, mode, 'cpuUs');
  if (own.length === 0 || own.length !== nginx.length) return undefined;
  return median(own.map((value, i) => value / nginx[i]));
}

function goals(results) {
  const names = ['translator', 'toolgate'].filter((name) => results.has(name));
  const rows = [['goal', 'limit', ...names]];
  const row = (text, limit, shown, value) =>
    rows.push([
      text,
      shown,
      ...names.map((name) => {
        const found = value(name);
        if (found === undefined || Number.isNaN(found)) return '—';
        const figure = found.toFixed(found < 10 ? 2 : 1);
        return name === 'toolgate' ? `${figure} ${verdict(found, limit)}` : figure;
      }),
    ]);
  if (results.has('nginx')) {
    for (const [mode, { text, ratio: limit }] of Object.entries(GOALS)) {
      for (const direction of DIRECTIONS) {
        row(`${text}, ${direction}`, limit, `≤ ${limit} × nginx`, (name) =>
          ratio(results, name, direction, mode),
        );
      }
    }
  }
  const foot = (key) => (name) => {
    const found = results.get(name).footprints.map((each) => each[key]);
    return found.length === 0 ? undefined : median(found);
  };
  row('memory of an open stream', MAX_STREAM_KB, `≤ ${MAX_STREAM_KB} KB`, foot('perStreamKb'));
  for (const direction of DIRECTIONS) {
    row(`added to the first token, ${direction}`, MAX_ADDED_MS, `≤ ${MAX_ADDED_MS} ms`, (name) => {
      const own = collect(results.get(name), direction, 'first', 'firstByteMs');
      const base = collect(results.get('direct'), direction, 'first', 'firstByteMs');
      return own.length === 0 ? undefined : median(own.map((value, i) => value - base[i]));
    });
  }
  row('idle memory', MAX_IDLE_MB, `≤ ${MAX_IDLE_MB} MB`, foot('idleMb'));
  return table(rows);
}

export function report({ results, skipped, failures, rounds, streams, load, node }) {
  return [
    `Node ${node}, ${rounds} interleaved rounds, median [min–max]; load average at the end ${load.toFixed(1)}`,
    `## Forward: Anthropic client, OpenAI upstream\n\n${absolute(results, 'forward')}`,
    `## Reverse: OpenAI client, Anthropic upstream\n\n${absolute(results, 'reverse')}`,
    `## Footprint (${streams} open streams)\n\n${footprints(results)}`,
    `## Goals\n\n${goals(results)}`,
    ...(skipped.length > 0 ? [`Not measured: ${skipped.join('; ')}`] : []),
    ...(failures.length > 0 ? [`FAILED:\n${failures.map((each) => `- ${each}`).join('\n')}`] : []),
  ].join('\n\n');
}
