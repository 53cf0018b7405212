/**
 * Which client towards upstreams. `node bench/http-client/run.mjs [rounds]`
 * Each client runs in its own process on one core; the mock upstream is on the other.
 */
import { fileURLToPath } from 'node:url';
import { installPeers } from '../lib/install.mjs';
import { LOAD_CORE, pinSelf, start } from '../lib/process.mjs';
import { spread, table } from '../lib/stats.mjs';
import { chatAnswer, chatFrames } from '../lib/workload.mjs';
import { buildGatewayClient } from './build.mjs';

const ROUNDS = Number(process.argv[2] ?? 3);
const WINDOW_MS = 2000;

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const CLIENTS = [
  { name: 'node:http', module: here('clients/node-http.mjs') },
  { name: 'undici.request', module: here('clients/undici.mjs') },
  { name: 'fetch (built in)', module: here('clients/fetch.mjs') },
  { name: 'net sketch, `data` events', module: here('clients/sketch.mjs'), env: { READS: 'data' } },
  { name: 'net sketch, one read buffer', module: here('clients/sketch.mjs') },
  {
    name: "the gateway's client",
    module: here('clients/gateway.mjs'),
    env: { CLIENT: await buildGatewayClient() },
  },
];
const streamBytes = Buffer.byteLength(chatFrames().join(''));
const jsonBytes = Buffer.byteLength(JSON.stringify(chatAnswer()));
const MODES = [
  { mode: 'json', concurrency: 16, unit: 1e6, per: 1, warmUp: 5000, expected: jsonBytes },
  { mode: 'burst', concurrency: 16, unit: 1e6, per: 1, warmUp: 2000, expected: streamBytes },
  { mode: 'paced', concurrency: 8, unit: 1e3, per: chatFrames().length, warmUp: 8, expected: streamBytes },
];

installPeers(['undici']);
pinSelf();
const mock = await start(process.execPath, [here('../lib/mock-upstream.mjs')], { core: LOAD_CORE });

async function measure(target, { mode, concurrency, unit, per, expected }, durationMs, minCount) {
  const url = `http://127.0.0.1:${mock.port}/${mode}/v1/chat/completions`;
  const before = target.cpuNs();
  const { count } = await target.ask({ url, expected, concurrency, durationMs, minCount });
  return (target.cpuNs() - before) / count / per / unit;
}

const found = new Map();
for (const client of CLIENTS) {
  const target = await start(process.execPath, [here('driver.mjs'), client.module], {
    env: client.env,
    ipc: true,
  });
  found.set(client, { target, json: [], burst: [], paced: [] });
}
for (let round = -1; round < ROUNDS; round++) {
  for (const job of MODES) {
    for (const each of found.values()) {
      const figure = await measure(each.target, job, round < 0 ? 700 : WINDOW_MS, round < 0 ? job.warmUp : 0);
      if (round >= 0) each[job.mode].push(figure);
    }
  }
}
for (const { target } of found.values()) await target.stop();
await mock.stop();

const rows = [['client', 'JSON POST CPU ms', 'burst stream CPU ms', 'paced CPU µs/event']];
for (const [client, each] of found) {
  rows.push([client.name, spread(each.json, 3), spread(each.burst, 3), spread(each.paced, 1)]);
}
console.log(`Node ${process.version}, ${ROUNDS} interleaved rounds, median [min–max]\n\n${table(rows)}`);
