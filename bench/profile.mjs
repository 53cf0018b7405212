/**
 * Where the gateway's CPU goes: `node bench/profile.mjs [json|burst|paced] [forward|reverse]`
 * Prints microseconds for each answer, by function. The sampler costs time itself: read shares.
 */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCheck } from './lib/checks.mjs';
import { runLoad } from './lib/load.mjs';
import { LOAD_CORE, pinSelf, start } from './lib/process.mjs';
import { table } from './lib/stats.mjs';
import { toolgate } from './targets/all.mjs';
import { DIRECTIONS } from './targets/directions.mjs';

const [mode = 'json', direction = 'forward'] = process.argv.slice(2);
const ROWS = 30;
const IGNORED = new Set(['(idle)', '(root)']);

const folder = mkdtempSync(join(tmpdir(), 'toolgate-profile-'));
pinSelf();
const mock = await start(
  process.execPath,
  [fileURLToPath(new URL('lib/mock-upstream.mjs', import.meta.url))],
  {
    core: LOAD_CORE,
  },
);
const running = await toolgate.start(mock, {
  nodeArguments: ['--cpu-prof', '--cpu-prof-interval', '250', '--cpu-prof-dir', folder],
});
const load = {
  port: running.port,
  request: toolgate.request(direction, mode),
  concurrency: mode === 'paced' ? 8 : 16,
  check: createCheck(DIRECTIONS[direction].client, mode),
};
const { count } = await runLoad({ ...load, durationMs: 6000, minCount: mode === 'json' ? 3000 : 500 });
await running.stop();
await mock.stop();

const files = readdirSync(folder)
  .map((name) => join(folder, name))
  .sort((a, b) => statSync(b).size - statSync(a).size);
if (files.length === 0) throw new Error('no profile was written: the gateway did not end in order');
const profile = JSON.parse(readFileSync(files[0], 'utf8'));
const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));

/** Short enough for a row, and without what would end its cell. */
function nameOf({ functionName, url, lineNumber }) {
  const place = url === '' ? '' : ` ${url.split('/').pop()}:${lineNumber + 1}`;
  return `${functionName || '(anonymous)'}`.slice(0, 60).replaceAll('|', '¦') + place;
}

const self = new Map();
for (const [index, id] of profile.samples.entries()) {
  const name = names.get(id);
  if (!IGNORED.has(name)) self.set(name, (self.get(name) ?? 0) + profile.timeDeltas[index]);
}
const total = [...self.values()].reduce((sum, each) => sum + each, 0);
const rows = [...self].sort((a, b) => b[1] - a[1]).slice(0, ROWS);
console.log(`${direction} ${mode}, ${count} answers, start-up included; profile: ${files[0]}\n`);
console.log(
  table([
    ['function', 'µs/answer', 'share'],
    ...rows.map(([name, us]) => [name, (us / count).toFixed(1), `${((100 * us) / total).toFixed(1)} %`]),
  ]),
);
