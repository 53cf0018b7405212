/** The benchmark itself, without measuring: its table of rows, its report, its picture, its checks. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/source-tree.js';

const load = (file: string) => import(pathToFileURL(join(ROOT, 'bench', file)).href);

interface Goal {
  text: string;
  rows: string[];
  against?: string;
}
interface Row {
  name: string;
  title: string;
  unit: string;
  goal?: Goal;
  derived?: boolean;
}
interface Group {
  name: string;
  targets: string[];
  rounds: number;
  seconds: number;
  rows: Row[];
  jobs: unknown[];
  rowsOf(job: unknown): string[];
  open: unknown;
  measure: unknown;
}

const { GROUPS, ROWS }: { GROUPS: Group[]; ROWS: Row[] } = await load('rows/all.mjs');
const { targetsOf } = await load('targets/all.mjs');
const { report, listRows } = await load('lib/report.mjs');
const { chart } = await load('lib/chart.mjs');
const { runPlan } = await load('lib/runner.mjs');
const { createCheck, eventsOf } = await load('lib/checks.mjs');
const { anthropicFrames, chatFrames } = await load('lib/workload.mjs');

/** What the gateway is held to. */
const GOALS: Record<string, string> = {
  'json-forward': '≤ 10 × nginx',
  'json-reverse': '≤ 10 × nginx',
  'paced-forward': '≤ 2.4 × nginx',
  'paced-reverse': '≤ 2.4 × nginx',
  'burst-forward': '≤ 12 × nginx',
  'burst-reverse': '≤ 12 × nginx',
  'first-forward': '≤ 1.2 ms over nginx',
  'first-reverse': '≤ 1.2 ms over nginx',
  'growing-forward': '≤ 0.6 × bare',
  'growing-reverse': '≤ 0.6 × bare',
  'pace-json': '≤ 1.5 × bare',
  'pace-burst': '≤ 1.5 × bare',
  'open-stream': '≤ 85 KB',
  'cold-start': '≤ 2.2 × bare',
  'idle-memory': '≤ 75 MB',
  'native-50': '≤ 2.5 × relay-50',
  'native-200': '≤ 2.5 × relay-200',
  'native-800': '≤ 2.5 × relay-800',
  'native-growth': 'flat (≤ 1.3 × what native-50 adds to relay-50)',
  'body-8m': '≤ 50 ms',
  'hold-8m': '≤ 30 ms',
  'hold-8m-new': '≤ 30 ms',
  'keys-1000': 'flat (≤ 1.1 × keys-1)',
  'globs-1000': 'flat (≤ 1.1 × keys-1)',
};

describe('the table of rows', () => {
  it('has every goal', () => {
    const goals = Object.fromEntries(ROWS.map(({ name, goal }) => [name, goal?.text]));
    expect(goals).toMatchObject(GOALS);
    for (const name of Object.keys(goals)) expect(listRows()).toContain(name);
  });

  it('has each row once, with what it is compared with', () => {
    const names = ROWS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const targets = targetsOf({}).map(({ name }: { name: string }) => name);
    for (const { goal } of ROWS) {
      expect(names).toEqual(expect.arrayContaining(goal?.rows ?? []));
      if (goal?.against !== undefined) expect(targets).toContain(goal.against);
    }
  });

  it.each(GROUPS.map((group) => [group.name, group] as const))('%s: its jobs give its rows', (_, group) => {
    const given = new Set(group.jobs.flatMap((job) => group.rowsOf(job)));
    expect([...given].toSorted()).toEqual(group.rows.map(({ name }) => name).toSorted());
    expect(group).toMatchObject({ open: expect.any(Function), measure: expect.any(Function) });
  });

  it('is measured in less than a quarter of an hour', () => {
    const seconds = GROUPS.reduce((sum, group) => sum + group.seconds, 0);
    expect(seconds).toBeLessThan(14 * 60);
  });
});

const RUN = {
  rows: [
    ...['json-forward', 'burst-forward', 'paced-forward', 'growing-forward', 'pace-json', 'idle-memory'],
    ...['relay-50', 'native-50', 'relay-800', 'native-800', 'native-growth'],
  ],
  date: '2026-01-02 03:04',
  node: 'v20.1.2',
  cores: 2,
  machine: '2 × a core & its <cache>',
  load: [0.1, 0.2],
  seconds: 1,
  quick: false,
  targets: ['nginx', 'bare', 'toolgate', 'control', 'base', 'other'],
  peers: ['other'],
  figures: {
    'json-forward': {
      nginx: [0.1, 0.2, 0.1],
      bare: [1, 2, 1],
      toolgate: [2, 4, null],
      control: [2, 4, 2],
      base: [4, 8, 4],
      other: [50, 50, 50],
    },
    'paced-forward': { nginx: [20, 20], toolgate: [40, 40], control: [41, 41] },
    'growing-forward': { bare: [5, 5], toolgate: [3.1, 3.1], control: [3.4, 3.4] },
    'pace-json': { toolgate: [8] },
    'idle-memory': { nginx: [12], toolgate: [74] },
    'relay-50': { toolgate: [2] },
    'native-50': { toolgate: [4] },
    'relay-800': { toolgate: [5] },
    'native-800': { toolgate: [9] },
  },
  failures: [{ row: 'burst-forward', target: 'other', message: 'wrong answer:\n  tokens' }],
  notes: ['a note'],
};

describe('the report', () => {
  const text: string = report(RUN, { markdown: true });
  const lineOf = (row: string): string => text.split('\n').find((line) => line.includes(`\`${row}\``)) ?? '';

  it('says what is met, and by how much what is missed', () => {
    expect(lineOf('json-forward')).toContain('| 3.00 ms (20.0 ×) | missed by 100 % |');
    expect(lineOf('paced-forward')).toContain('| 40.0 µs (2.00 ×) | met | 2.5 % |');
    expect(lineOf('idle-memory')).toContain('| 74.0 MB | met |');
    expect(lineOf('native-50')).toContain('(2.00 ×) | met |');
    expect(lineOf('native-growth')).toContain('| 2.00 × | missed by 54 % |');
  });

  it('does not call proven what is within the noise, nor measured what has nothing to stand next to', () => {
    expect(lineOf('growing-forward')).toContain('| missed by 3.3 %, within the noise | 9.7 % |');
    expect(lineOf('pace-json')).toContain('| not measured |');
    expect(lineOf('burst-forward')).toContain('| ≤ 12 × nginx | — | not measured |');
    expect(text).toContain('4 goals met, 3 missed, 2 not measured.');
    expect(text).toContain('Noise: the same build measured twice differs by');
  });

  it('warns of what cannot be trusted', () => {
    expect(text).not.toMatch(/QUICK|BUSY/);
    expect(report({ ...RUN, quick: true })).toContain('QUICK');
    expect(report({ ...RUN, load: [0.5, 9] })).toContain('BUSY');
    expect(chart({ ...RUN, load: [0.5, 9] })).toContain('BUSY');
  });

  it('compares with another checkout, and tells of what failed', () => {
    expect(text).toContain('| json-forward | 0.500 × | 0.0 % |  |');
    expect(text).toContain('- other, burst-forward: wrong answer: tokens');
    expect(text).toContain('- a note');
    expect(report(RUN)).toContain('── Spread ──');
  });
});

describe('the picture', () => {
  const svg: string = chart(RUN);

  it('is well-formed', () => {
    const open: string[] = [];
    for (const [, end, name = '', rest = ''] of svg.matchAll(/<(\/?)([a-z]+)([^>]*)>/g)) {
      if (end === '/') expect(open.pop()).toBe(name);
      else if (!rest.endsWith('/')) open.push(name);
      expect(rest.replaceAll(/ [a-zA-Z-]+="[^"<]*"/g, '')).toMatch(/^\/?$/);
    }
    expect(open).toEqual([]);
    expect(svg).not.toMatch(/&(?!(?:amp|lt|gt|quot);)|undefined|NaN/);
    expect(svg.replaceAll(/<\/?[a-z]+[^>]*>/g, '')).not.toContain('<');
  });

  it('says when, on what and against whom, for light and dark pages', () => {
    for (const part of [
      '2026-01-02',
      'Node 20.1.2',
      'a core &amp; its',
      'bare translator',
      'prefers-color-scheme',
    ])
      expect(svg).toContain(part);
    expect(svg).toContain('goal ≤ 10 × nginx: missed by 100 %');
  });
});

describe('a run', () => {
  const target = (name: string) => ({ name, kind: 'gateway' });

  it('takes turns, begins each round with another target and job and throws the first round away', async () => {
    const order: string[][] = [];
    const stopped: string[] = [];
    const group = {
      name: 'group',
      rounds: 2,
      seconds: 60,
      rowsOf: (job: string) => [job],
      open: async ({ name }: { name: string }) => ({
        target: target(name),
        running: { stop: async () => stopped.push(name) },
      }),
      measure: async (lane: { target: { name: string } }, job: string, { round }: { round: number }) => {
        const which = `${job}${lane.target.name}`;
        const done = order[round + 1] ?? [];
        order[round + 1] = [...done, which];
        if (which === 'yc' && round === 1) throw new Error('wrong answer');
        return { [job]: round };
      },
    };
    const plan = [{ group, jobs: ['x', 'y'], targets: ['a', 'b', 'c'].map(target) }];
    const { figures, failures } = await runPlan({ plan, untilMs: Number.POSITIVE_INFINITY, say: () => {} });
    expect(order.map((round) => round.join(' '))).toEqual([
      'xa xb xc ya yb yc',
      'xa xb xc ya yb yc',
      'yb yc ya xb xc xa',
    ]);
    expect(figures).toEqual({ x: { a: [0, 1], b: [0, 1], c: [0, 1] }, y: { a: [0, 1], b: [0, 1] } });
    expect(failures).toEqual([{ row: 'y', target: 'c', message: 'wrong answer' }]);
    expect(stopped).toEqual(['a', 'b', 'c']);
  });

  it('leaves out what there is no time for, and says so', async () => {
    const plan = [{ group: { name: 'late' }, jobs: [], targets: [] }];
    const { notes } = await runPlan({ plan, untilMs: 0, say: () => {} });
    expect(notes).toEqual(['late was not measured: the time was used up']);
  });
});

describe('checks of answers', () => {
  const streams: [string, string[]][] = [
    ['anthropic', anthropicFrames()],
    ['chat', chatFrames()],
  ];

  it.each(streams)('%s: a comment between events is not odd, a missing event is', (dialect, frames) => {
    const check = () => createCheck(dialect, 'burst');
    const [first = '', ...rest] = frames;
    check()(Buffer.from(frames.join('')));
    check()(Buffer.from([first, ': ping\n\n', ...rest].join('')));
    expect(() => check()(Buffer.from([first, ...rest.slice(5)].join('')))).toThrow(/wrong answer/);
    expect(eventsOf(': ping\n\ndata: {}\n\n')).toEqual(['{}']);
  });
});
