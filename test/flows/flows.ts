/** All flows, on one engine. */
import process from 'node:process';
import { afterAll, beforeAll, describe, it } from 'vitest';

import { allGone, descendants, isClaudeCode } from '../support/processes.js';
import { type Bench, type Flow, openBench, play } from './bench.js';
import { CHOICE_FLOWS } from './choice-flows.js';
import { HISTORY_FLOWS } from './history-flows.js';
import { LOOP_FLOWS } from './loop-flows.js';
import { CLIENTS, type ClientKind, combinations, type EngineName, RUNNERS } from './matrix.js';
import type { ProtocolFlow } from './protocol.js';
import { REFUSAL_FLOWS } from './refusal-flows.js';
import { RESULTS_FLOWS } from './results-flows.js';
import { runLoop } from './run-loop.js';

/** For one flow, on a machine that has other things to do. */
const FLOW_MS = 30_000;

interface Tried {
  name: string;
  clients: readonly ClientKind[];
  run(flow: Flow): Promise<void>;
}

const ofTasks: readonly Tried[] = LOOP_FLOWS.map((task) => ({
  name: task.name,
  clients: [...CLIENTS, ...RUNNERS],
  run: (flow) => runLoop(flow, task),
}));

const ofRequests = (flows: readonly ProtocolFlow[]): readonly Tried[] =>
  flows.map(({ name, clients, run }) => ({
    name,
    clients: CLIENTS.filter((client) => clients?.(client) ?? true),
    run,
  }));

const FLOWS: Readonly<Record<string, readonly Tried[]>> = {
  tasks: ofTasks,
  results: ofRequests(RESULTS_FLOWS),
  histories: ofRequests(HISTORY_FLOWS),
  refusals: ofRequests(REFUSAL_FLOWS),
  choices: ofRequests(CHOICE_FLOWS),
};

export function describeFlows(engine: EngineName): void {
  let bench: Bench | undefined;
  beforeAll(async () => {
    bench = await openBench(engine);
  });
  afterAll(async () => {
    const started = descendants(process.pid).filter(isClaudeCode);
    await bench?.close();
    await allGone(started);
  });

  let count = 0;
  for (const [topic, flows] of Object.entries(FLOWS)) {
    for (const { name, clients, run } of flows) {
      const chosen = combinations(engine, count++, clients);
      if (chosen.length === 0) continue;
      describe(`${engine}, ${topic}: ${name}`, () => {
        for (const combination of chosen) {
          it(
            `${combination.client.name} on ${combination.upstream}`,
            ({ signal }) => play(opened(bench), combination, run, signal),
            FLOW_MS,
          );
        }
      });
    }
  }
}

function opened(bench: Bench | undefined): Bench {
  if (bench === undefined) throw new Error('The gateway did not start');
  return bench;
}
