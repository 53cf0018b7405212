/** The figures of a run as a picture for the README: SVG text, light or dark as the page is. */
import { ROWS } from '../rows/all.mjs';
import { caution, figure, medianOf, standing } from './report.mjs';

/** What the picture has room for, each with a title that fits. */
const PANELS = [
  { row: 'json-forward', title: 'CPU of a 49 KB request, translated' },
  { row: 'burst-forward', title: 'CPU of a stream of 285 events, in one go' },
  { row: 'paced-forward', title: 'CPU of an event, a stream at its own pace' },
  { row: 'first-forward', title: 'Time to the first token' },
  { row: 'growing-forward', title: 'CPU of a turn with its history, turns 30–70' },
  { row: 'pace-json', title: "CPU of a request at a person's pace" },
  { row: 'open-stream', title: 'Memory of an open stream' },
  { row: 'idle-memory', title: 'Idle memory' },
];
const NAMES = { nginx: 'nginx, bytes only', bare: 'bare translator' };
const LEFT_OUT = ['direct', 'control', 'base'];

const WIDTH = 880;
const MARGIN = 20;
const GAP = 40;
const PANEL = (WIDTH - 2 * MARGIN - GAP) / 2;
const NAME_WIDTH = 132;
const VALUE_WIDTH = 84;
const BAR_ROOM = PANEL - NAME_WIDTH - VALUE_WIDTH;
const [BAR, BAR_STEP, TITLE_HEIGHT, PANEL_GAP] = [14, 22, 26, 22];
const HEAD_HEIGHT = 84;

/** Rules instead of variables: programs that make pictures of SVG files know these. */
const colours = ({ page, words, quiet, own, other, goal }) => `
  .page { fill: ${page}; } text { fill: ${words}; } .quiet { fill: ${quiet}; }
  .own { fill: ${own}; } .other { fill: ${other}; } .goal { stroke: ${goal}; } .value { stroke: ${page}; } .goal-word { fill: ${goal}; }`;
const LIGHT = {
  page: '#ffffff',
  words: '#1f2328',
  quiet: '#59636e',
  own: '#0969da',
  other: '#afb8c1',
  goal: '#bc4c00',
};
const DARK = {
  page: '#0d1117',
  words: '#e6edf3',
  quiet: '#9198a1',
  own: '#4493f8',
  other: '#57606a',
  goal: '#f0883e',
};

const STYLE = `
  text { font: 12px system-ui, -apple-system, 'Segoe UI', sans-serif; }
  .head { font-size: 16px; font-weight: 600; } .title { font-weight: 600; }
  .goal { stroke-width: 2; stroke-dasharray: 3 2; } .value { paint-order: stroke; stroke-width: 4; }${colours(LIGHT)}
  @media (prefers-color-scheme: dark) {${colours(DARK)}
  }
`;

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => String(text).replace(/[&<>"]/g, (found) => ENTITIES[found]);
const text = (x, y, words, kind = '') =>
  `<text x="${x}" y="${y}"${kind && ` class="${kind}"`}>${escaped(words)}</text>`;

function panelsOf(run) {
  return PANELS.flatMap(({ row: name, title }) => {
    const row = ROWS.find((each) => each.name === name);
    const bars = run.targets
      .filter((target) => !LEFT_OUT.includes(target))
      .map((target) => ({ target, value: medianOf(run, name, target) }))
      .filter(({ value }) => value !== undefined);
    return bars.length === 0 ? [] : [{ row, title, bars }];
  });
}

function drawPanel(run, { row, title, bars }, x, y) {
  const goal = row.goal.mark((target) => medianOf(run, row.name, target)) || undefined;
  const ours = bars.filter(({ target }) => !run.peers.includes(target)).map(({ value }) => value);
  // Other gateways may need twenty times as much: their bars are cut, so that the rest can be read.
  const most = 1.1 * Math.max(...ours, goal ?? 0);
  const wide = (value) => Math.max(1, Math.min(1, value / most) * BAR_ROOM);
  const left = x + NAME_WIDTH;
  const verdict = standing(run, row)?.text;
  const parts = [text(x, y + 12, title, 'title')];
  const values = [];
  for (const [index, { target, value }] of bars.entries()) {
    const top = y + TITLE_HEIGHT + index * BAR_STEP;
    const isCut = value > most;
    const width = wide(value);
    const end = left + width;
    const kind = target === 'toolgate' ? 'own' : 'other';
    parts.push(text(x, top + 11, NAMES[target] ?? target));
    const shape = isCut
      ? `M${left} ${top}H${end}l-5 ${BAR / 2}l5 ${BAR / 2}H${left}Z`
      : `M${left} ${top}H${end.toFixed(1)}v${BAR}H${left}Z`;
    parts.push(`<path d="${shape}" class="${kind}"/>`);
    values.push(
      text((end + 6).toFixed(1), top + 11, `${figure(value)} ${row.unit}${isCut ? ' »' : ''}`, 'value'),
    );
  }
  if (goal !== undefined) {
    const at = (left + wide(goal)).toFixed(1);
    const bottom = y + TITLE_HEIGHT + bars.length * BAR_STEP - (BAR_STEP - BAR);
    parts.push(`<path d="M${at} ${y + TITLE_HEIGHT - 3}V${bottom + 3}" class="goal"/>`);
    parts.push(text(x, bottom + 18, `goal ${row.goal.text}: ${verdict ?? 'not measured'}`, 'goal-word'));
  }
  // Last, so that the line of the goal does not run through them.
  return [...parts, ...values].join('\n');
}

const heightOf = ({ bars }) => TITLE_HEIGHT + bars.length * BAR_STEP + 14 + PANEL_GAP;

export function chart(run) {
  const panels = panelsOf(run);
  const drawn = [];
  let y = HEAD_HEIGHT;
  for (let i = 0; i < panels.length; i += 2) {
    const pair = panels.slice(i, i + 2);
    drawn.push(...pair.map((panel, at) => drawPanel(run, panel, MARGIN + at * (PANEL + GAP), y)));
    y += Math.max(...pair.map(heightOf));
  }
  const compared = run.targets
    .filter((target) => !LEFT_OUT.includes(target))
    .map((name) => NAMES[name] ?? name);
  const load = run.load.map((each) => each.toFixed(1)).join(' to ');
  const how = `${run.date.slice(0, 10)}, Node ${run.node.slice(1)}, ${run.machine}, load average ${load}`;
  const about = `${how}; medians of one run`;
  const title = 'What Toolgate costs next to others (shorter is better)';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-labelledby="title about">
<title id="title">${escaped(title)}</title>
<desc id="about">${escaped(`Compared: ${compared.join(', ')}. ${about}.`)}</desc>
<style>${STYLE}</style>
<rect class="page" width="${WIDTH}" height="${y}" rx="8"/>
${text(MARGIN, 30, title, 'head')}
${text(MARGIN, 49, about, 'quiet')}
${text(MARGIN, 66, caution(run) ?? '', 'goal-word')}
${drawn.join('\n')}
</svg>
`;
}
