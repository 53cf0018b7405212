/**
 * Which HTTP layer: node:http, fastify or hono. `node bench/http-layer/run.mjs [rounds]`
 * Each server is pinned to one core, the load generator to the other; CPU comes from the scheduler.
 */
import { fileURLToPath } from 'node:url';
import { installPeers } from '../lib/install.mjs';
import { httpRequest, openStreams, runLoad } from '../lib/load.mjs';
import { pinSelf, start } from '../lib/process.mjs';
import { median, spread, table } from '../lib/stats.mjs';
import { anthropicFrames, anthropicRequest } from '../lib/workload.mjs';
import { measureValidation } from './validation.mjs';

const ROUNDS = Number(process.argv[2] ?? 3);
const WINDOW_MS = 2000;
const STREAMS = 500;
const EVENTS = anthropicFrames().length;

const SERVERS = [
  { name: 'node:http, `write`', args: ['node-http.mjs', 'write'] },
  { name: 'node:http, framed here', args: ['node-http.mjs', 'framed'] },
  { name: 'node:http, framed here, to the socket', args: ['node-http.mjs', 'socket'] },
  { name: 'fastify', args: ['fastify.mjs'] },
  { name: 'hono', args: ['hono.mjs'] },
];
const MODES = [
  { mode: 'json', concurrency: 16, unit: 1e6, per: 1, warmUp: 2000 },
  { mode: 'burst', concurrency: 16, unit: 1e6, per: 1, warmUp: 1000 },
  { mode: 'paced', concurrency: 8, unit: 1e3, per: EVENTS },
];

function launch(server) {
  const [file, ...rest] = server.args;
  return start(process.execPath, [fileURLToPath(new URL(`servers/${file}`, import.meta.url)), ...rest]);
}

const body = anthropicRequest(true);
const requests = Object.fromEntries(
  ['json', 'burst', 'paced', 'hold'].map((mode) => [
    mode,
    httpRequest({ path: '/v1/messages', headers: { 'x-mode': mode }, body }),
  ]),
);
const streamBytes = Buffer.byteLength(anthropicFrames().join(''));

function check(mode) {
  return (answer) => {
    if (mode === 'json') JSON.parse(answer.toString());
    else if (answer.length !== streamBytes) throw new Error(`${answer.length} bytes of ${streamBytes}`);
  };
}

async function measure(target, { mode, concurrency, unit, per }, durationMs = WINDOW_MS, minCount = 0) {
  const before = target.cpuNs();
  const { count } = await runLoad({
    port: target.port,
    request: requests[mode],
    concurrency,
    durationMs,
    minCount,
    check: check(mode),
  });
  return (target.cpuNs() - before) / count / per / unit;
}

async function footprint(server) {
  const target = await launch(server);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const idle = target.rssKb();
  const held = await openStreams({ port: target.port, request: requests.hold, count: STREAMS });
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const full = target.rssKb();
  held.close();
  await target.stop();
  return { startMs: target.startMs, idleMb: idle / 1024, perStreamKb: (full - idle) / STREAMS };
}

installPeers(['fastify', 'hono', '@hono/node-server']);
pinSelf();
const figures = new Map(SERVERS.map((server) => [server, { json: [], burst: [], paced: [], footprint: [] }]));

const targets = new Map();
for (const server of SERVERS) targets.set(server, await launch(server));
for (const target of targets.values()) for (const job of MODES) await measure(target, job, 700, job.warmUp);
for (let round = 0; round < ROUNDS; round++) {
  for (const job of MODES) {
    for (const [server, target] of targets) figures.get(server)[job.mode].push(await measure(target, job));
  }
}
for (const target of targets.values()) await target.stop();
for (let round = 0; round < ROUNDS; round++) {
  for (const server of SERVERS) figures.get(server).footprint.push(await footprint(server));
}

const rows = [
  ['layer', 'JSON CPU ms', 'burst stream CPU ms', 'paced CPU µs/event', 'start ms', 'idle MB', 'KB/stream'],
];
for (const [server, found] of figures) {
  const part = (key) => median(found.footprint.map((each) => each[key]));
  rows.push([
    server.name,
    spread(found.json, 3),
    spread(found.burst, 3),
    spread(found.paced, 1),
    part('startMs').toFixed(0),
    part('idleMb').toFixed(1),
    part('perStreamKb').toFixed(0),
  ]);
}
console.log(`Node ${process.version}, ${ROUNDS} interleaved rounds, median [min–max]\n\n${table(rows)}\n`);
console.log(measureValidation(ROUNDS));
