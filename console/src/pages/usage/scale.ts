/** Where things are in a chart. */

export interface Scale {
  max: number;
  ticks: readonly number[];
}

/** Round numbers from nothing to a little more than `most`; whole ones for what is counted. */
export function niceScale(most: number, { wanted = 4, whole = false } = {}): Scale {
  if (!(most > 0) || !Number.isFinite(most)) return { max: 1, ticks: [0, 1] };
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10);
  const step = whole ? Math.ceil(round) : round;
  const count = Math.ceil(most / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
  return { max: ticks.at(-1) ?? 1, ticks };
}

/** Of what is counted. */
export const wholeScale = (most: number): Scale => niceScale(most, { whole: true });

const LARGE_UNITS_MS = [86_400_000, 3_600_000, 60_000];

/** Of milliseconds: whole minutes, hours or days where there is at least one, so that labels stay short. */
export function durationScale(most: number): Scale {
  const unit = LARGE_UNITS_MS.find((each) => most >= each);
  if (unit === undefined) return niceScale(most);
  const { max, ticks } = wholeScale(most / unit);
  return { max: max * unit, ticks: ticks.map((tick) => tick * unit) };
}

/** Which of `count` labels to write, so that they do not touch; the last is always there. */
export function labelledIndexes(count: number, width: number, labelWidth: number): Set<number> {
  const fitting = Math.max(1, Math.floor(width / labelWidth));
  const every = Math.max(1, Math.ceil(count / fitting));
  return new Set(
    Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % every === 0),
  );
}

/** Upright rectangles, one upon the other: `[from, to]` of each in units of the scale. */
export function stack(values: readonly (number | undefined)[]): [number, number][] {
  let from = 0;
  return values.map((value) => {
    const to = from + Math.max(0, value ?? 0);
    const span: [number, number] = [from, to];
    from = to;
    return span;
  });
}

/** Lines between points that are there; a gap where one is not. */
export function linePath(points: readonly ({ x: number; y: number } | undefined)[]): string {
  let path = '';
  let drawing = false;
  for (const point of points) {
    if (point === undefined) {
      drawing = false;
      continue;
    }
    path += `${drawing ? 'L' : 'M'}${point.x.toFixed(1)} ${point.y.toFixed(1)}`;
    drawing = true;
  }
  return path;
}
