/**
 * What a row is held to. A goal takes the figures of one target and gives a value for each round, so that
 * both sides of a ratio saw the same neighbours; the median of the rounds is compared with the limit.
 *
 *   values(own, other, row)  `own(row)` has the rounds of the target that is judged, `other(target)` those of
 *                            another target on this row; empty where nothing was measured
 *   rows                     further rows that it needs
 *   mark(medianOf)           where the limit lies in the row's own unit, given the medians of the targets
 */
import { median } from './stats.mjs';

/** By how much two equal measurements may differ and still be called flat. */
const FLAT = 1.1;

const known = (value) => value !== undefined;
const pairs = (a, b, value) =>
  a.flatMap((each, i) => (known(each) && known(b[i]) ? [value(each, b[i])] : []));

/** At most `limit` times what another target needs. */
export function timesTarget(target, limit) {
  return {
    text: `≤ ${limit} × ${target}`,
    limit,
    unit: '×',
    against: target,
    rows: [],
    mark: (medianOf) => known(medianOf(target)) && limit * medianOf(target),
    values: (own, other, row) => pairs(own(row), other(target), (a, b) => a / b),
  };
}

/** At most `limit` more than another target. */
export function overTarget(target, limit, unit) {
  return {
    text: `≤ ${limit} ${unit} over ${target}`,
    limit,
    unit,
    against: target,
    rows: [],
    mark: (medianOf) => known(medianOf(target)) && limit + medianOf(target),
    values: (own, other, row) => pairs(own(row), other(target), (a, b) => a - b),
  };
}

export function atMost(limit, unit) {
  return {
    text: `≤ ${limit} ${unit}`,
    limit,
    unit,
    absolute: true,
    rows: [],
    mark: () => limit,
    values: (own, _, row) => own(row).filter(known),
  };
}

/** At most `limit` times what the same target needs for another row. */
export function timesRow(reference, limit, text = `≤ ${limit} × ${reference}`) {
  return {
    text,
    limit,
    unit: '×',
    rows: [reference],
    mark: () => false,
    values: (own, _, row) => pairs(own(row), own(reference), (a, b) => a / b),
  };
}

/** No more than for another row, but for what two equal measurements may differ. */
export const flat = (reference) => timesRow(reference, FLAT, `flat (≤ ${FLAT} × ${reference})`);

/** What a row costs over another of its target, against the same difference of a smaller pair. */
export function addsFlat([row, over], [smallRow, smallOver], limit) {
  return {
    text: `flat (≤ ${limit} × what ${smallRow} adds to ${smallOver})`,
    limit,
    unit: '×',
    rows: [row, over, smallRow, smallOver],
    mark: () => false,
    /** Of the medians: a difference of one round is too small to be divided by. */
    values(own) {
      const rounds = [row, over, smallRow, smallOver].map((name) => own(name).filter(known));
      if (rounds.some((each) => each.length === 0)) return [];
      const [large, largeOver, small, smallUnder] = rounds.map(median);
      return small > smallUnder ? [(large - largeOver) / (small - smallUnder)] : [];
    },
  };
}

/**
 * How a target stands to a goal: `{ value, met, text }`, or undefined where nothing was measured.
 * `noise` is the share by which the same build differs from itself on this row.
 */
export function verdictOf(goal, row, own, other, noise = 0) {
  const values = goal.values(own, other, row);
  if (values.length === 0) return undefined;
  const value = median(values);
  const met = value <= goal.limit;
  const miss = value / goal.limit - 1;
  const within = Math.abs(miss) < noise ? ', within the noise' : '';
  return { value, met, text: met ? `met${within}` : `missed by ${percent(miss)}${within}` };
}

export const percent = (share) => `${(100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
