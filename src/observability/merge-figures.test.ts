import { expect, it } from 'vitest';
import { countersOf, mergeFigures } from './merge-figures.js';

const figures = (requests: string, open: number, lag: string): string =>
  `# HELP toolgate_requests_total Requests answered.
# TYPE toolgate_requests_total counter
${requests}
# HELP toolgate_open_requests Requests that are not yet answered.
# TYPE toolgate_open_requests gauge
toolgate_open_requests ${open}
# HELP nodejs_eventloop_lag_p99_seconds The 99th percentile.
# TYPE nodejs_eventloop_lag_p99_seconds gauge
nodejs_eventloop_lag_p99_seconds ${lag}
`;

it('adds what is counted, series by series, and takes the worst lag', () => {
  const one = figures('toolgate_requests_total{model="a b",status="200"} 3', 2, '0.25');
  const other = figures(
    'toolgate_requests_total{model="a b",status="200"} 4\ntoolgate_requests_total{model="c",status="200"} 1',
    1,
    '0.5',
  );
  expect(mergeFigures([one, other])).toBe(
    figures(
      'toolgate_requests_total{model="a b",status="200"} 7\ntoolgate_requests_total{model="c",status="200"} 1',
      3,
      '0.5',
    ),
  );
});

it('a lag that was not measured yet hides no other', () => {
  const lagIn = (text: string) => /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1];
  const [unknown, known] = [figures('x 1', 0, 'Nan'), figures('x 1', 0, '0.5')];
  expect(lagIn(mergeFigures([unknown, known]))).toBe('0.5');
  expect(lagIn(mergeFigures([known, unknown]))).toBe('0.5');
});

it('of a process that has ended only what it counted is kept', () => {
  const text = figures('toolgate_requests_total{model="a"} 3', 2, '0.25');
  expect(countersOf(text)).toBe(
    '# HELP toolgate_requests_total Requests answered.\n# TYPE toolgate_requests_total counter\ntoolgate_requests_total{model="a"} 3\n',
  );
});
