/** The figures of a run next to their goals: for a terminal, or as Markdown. */
import { ROWS } from '../rows/all.mjs';
import { percent, verdictOf } from './goals.mjs';
import { median, table } from './stats.mjs';

const GATEWAY = 'toolgate';
const CONTROL = 'control';
const MESSAGE_LENGTH = 200;

/** Three digits are more than a run on a shared machine can promise. */
export function figure(value) {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3);
}

const roundsOf = (run, row, target) => (run.figures[row]?.[target] ?? []).map((each) => each ?? undefined);
const knownOf = (run, row, target) => roundsOf(run, row, target).filter((each) => each !== undefined);

/** The median of the rounds, or undefined. */
export function medianOf(run, row, target) {
  const values = knownOf(run, row, target);
  return values.length === 0 ? undefined : median(values);
}

/** By how much the same build differs from itself: the median of the rounds, as a share. */
export function noiseOf(run, row) {
  const control = roundsOf(run, row, CONTROL);
  const ratios = roundsOf(run, row, GATEWAY).flatMap((each, i) =>
    each === undefined || control[i] === undefined ? [] : [control[i] / each],
  );
  return ratios.length === 0 ? undefined : Math.abs(median(ratios) - 1);
}

/** How a target stands to a row's goal, or undefined. */
export function standing(run, row, target = GATEWAY) {
  if (row.goal === undefined) return undefined;
  const own = (name) => roundsOf(run, name, target);
  const other = (name) => roundsOf(run, row.name, name);
  return verdictOf(row.goal, row.name, own, other, noiseOf(run, row.name));
}

function cell(run, row, target) {
  const value = medianOf(run, row.name, target);
  const found = standing(run, row, target);
  const absolute = value === undefined ? undefined : `${figure(value)} ${row.unit}`;
  // What all are compared with would stand next to itself, and what is in front of it says nothing.
  const isPlain = found === undefined || row.goal.absolute || [row.goal.against, 'direct'].includes(target);
  if (isPlain) return absolute ?? '—';
  const relative = `${found.value > 0 && row.goal.unit !== '×' ? '+' : ''}${figure(found.value)} ${row.goal.unit}`;
  return absolute === undefined ? relative : `${absolute} (${relative})`;
}

/** `met`, `missed by 12 %`, or why there is none. */
function verdictText(run, row) {
  if (row.goal === undefined) return '';
  return standing(run, row)?.text ?? 'not measured';
}

/** What makes the figures of a run worth less, or nothing. */
export function caution(run) {
  if (run.quick) return 'QUICK: too few measurements for any figure to be trusted';
  if (Math.max(...run.load) > 1.5 * run.cores) return 'BUSY: other work took the cores, figures are too high';
  return undefined;
}

function mainTable(run, rows) {
  const others = run.targets.filter((name) => ![GATEWAY, CONTROL].includes(name));
  const shown = others.filter((name) => rows.some((row) => medianOf(run, row.name, name) !== undefined));
  const head = ['row', 'goal', GATEWAY, 'verdict', 'noise', ...shown];
  const body = rows.map((row) => {
    const noise = noiseOf(run, row.name);
    return [
      `${row.title} \`${row.name}\``,
      row.goal?.text ?? '',
      cell(run, row, GATEWAY),
      verdictText(run, row),
      noise === undefined ? '' : percent(noise),
      ...shown.map((name) => cell(run, row, name)),
    ];
  });
  return [head, ...body];
}

/** The spread of every figure: what a median hides. */
function spreadTable(run, rows) {
  const body = rows.flatMap((row) =>
    run.targets.flatMap((target) => {
      const values = knownOf(run, row.name, target);
      if (values.length < 2) return [];
      const [least, most] = [Math.min(...values), Math.max(...values)];
      return [
        [row.name, target, row.unit, figure(median(values)), figure(least), figure(most), values.length],
      ];
    }),
  );
  return [['row', 'target', 'unit', 'median', 'least', 'most', 'rounds'], ...body];
}

function summary(run, rows) {
  const judged = rows.filter((row) => row.goal !== undefined);
  const found = judged.map((row) => standing(run, row));
  const count = (test) => found.filter(test).length;
  const noises = rows.map((row) => noiseOf(run, row.name)).filter((noise) => noise !== undefined);
  const lines = [
    `${count((each) => each?.met)} goals met, ${count((each) => each?.met === false)} missed, ` +
      `${count((each) => each === undefined)} not measured.`,
  ];
  if (noises.length > 0) {
    const [middle, most] = [median(noises), Math.max(...noises)].map(percent);
    lines.push(
      `Noise: the same build measured twice differs by ${middle} (median of the rows), at most ${most}.`,
    );
  }
  return lines.join('\n');
}

function beforeAfter(run, rows) {
  if (!run.targets.includes('base')) return undefined;
  const body = rows.flatMap((row) => {
    const base = roundsOf(run, row.name, 'base');
    const ratios = roundsOf(run, row.name, GATEWAY).flatMap((each, i) =>
      each === undefined || base[i] === undefined ? [] : [each / base[i]],
    );
    if (ratios.length === 0) return [];
    const noise = noiseOf(run, row.name);
    const change = median(ratios);
    const proven = noise === undefined || Math.abs(change - 1) > noise ? '' : 'within the noise';
    return [[row.name, `${figure(change)} ×`, noise === undefined ? '' : percent(noise), proven]];
  });
  return [['row', `${GATEWAY} / base`, 'noise', ''], ...body];
}

/** `markdown`: tables for a document instead of a terminal. */
export function report(run, { markdown = false } = {}) {
  const rows = ROWS.filter(({ name }) => run.rows.includes(name));
  const show = markdown ? table : columns;
  const title = (text) => (markdown ? `### ${text}` : `── ${text} ──`);
  const compared = beforeAfter(run, rows);
  const failed = (head, isMeant) => {
    const lines = run.failures
      .filter(({ target }) => isMeant(target))
      .map(({ row, target, message }) => `${target}, ${row}: ${oneLine(message)}`);
    return lines.length === 0 ? [] : [head, bullets(lines)];
  };
  const load = run.load.map((each) => each.toFixed(1)).join(' → ');
  return [
    `${run.date} UTC, Node ${run.node.slice(1)}, ${run.machine}, load average ${load}, ${run.seconds} s`,
    ...(caution(run) === undefined ? [] : [caution(run)]),
    show(mainTable(run, rows)),
    summary(run, rows),
    ...(compared === undefined ? [] : [title('Against the other checkout'), show(compared)]),
    ...(markdown ? [] : [title('Spread'), show(spreadTable(run, rows))]),
    ...(run.notes.length > 0 ? [title('Notes'), bullets(run.notes)] : []),
    ...failed(title('Other gateways: not measured where they failed'), (name) => run.peers.includes(name)),
    ...failed(title('FAILED'), (name) => !run.peers.includes(name)),
  ].join('\n\n');
}

/** What there is to measure, with its goals. */
export function listRows({ markdown = false } = {}) {
  const rows = ROWS.map(({ name, group, title, unit, goal }) => [name, group, title, unit, goal?.text ?? '']);
  return (markdown ? table : columns)([['row', 'group', 'what', 'unit', 'goal'], ...rows]);
}

const bullets = (lines) => lines.map((line) => `- ${line}`).join('\n');
const oneLine = (message) => message.replaceAll(/\s+/g, ' ').slice(0, MESSAGE_LENGTH);

/** Columns of equal width; the first two may be long. */
function columns(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => [...String(row[at])].length)));
  const line = (row) =>
    row
      .map((each, at) => String(each) + ' '.repeat(widths[at] - [...String(each)].length))
      .join('  ')
      .trimEnd();
  const [head, ...body] = rows;
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n');
}
