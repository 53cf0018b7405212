/**
 * The core of a gateway in a process of its own, to be killed: store, coordinator, gate, and calls
 * that wait for approval. Takes commands and answers in lines of JSON; what it says, it has done.
 */
import { appendFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createApprovalCoordinator } from '../../src/permissions/coordinator/coordinator.js';
import { createGate } from '../../src/permissions/coordinator/create-gate.js';
import { openStore } from '../../src/store/open/open-store.js';
import { callOf, simplePolicy, type TestCall } from '../support/simple-policy.js';
import { type ChildCall, type ChildLine, type Command, PATIENT } from './approval-lines.js';

const [path = '', journal = '', at = '0', timeoutMs = '0'] = process.argv.slice(2);

let clock = Number(at);
const now = () => clock;
const store = await openStore(`sqlite:${path}`, { baseDir: '/', now, limits: PATIENT });
const policy = simplePolicy();
const log = {
  warn: (facts: object, message: string) =>
    say({ kind: 'problem', message: `${message} ${JSON.stringify(facts)}` }),
  error: (facts: object, message: string) =>
    say({ kind: 'problem', message: `${message} ${JSON.stringify(facts)}` }),
};
const coordinator = createApprovalCoordinator({
  ...{ store, policy, log, now, timeoutMs: Number(timeoutMs), unattended: 'wait', pollMs: 25 },
});
const gate = createGate({ policy, coordinator, store, log });
const running = new Map<string, TestCall>();

function say(line: ChildLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function run({ id, session, command, dies }: ChildCall): Promise<void> {
  const call = callOf(command, { toolUseId: id, session });
  running.set(id, call);
  const onWaiting = (approval: string) => say({ kind: 'asked', call: id, approval });
  const verdict = await gate.check({ ...call, onWaiting });
  if (verdict.allowed) {
    if (dies === 'before') process.kill(process.pid, 'SIGKILL');
    // The work itself: whatever is in the journal has been done.
    const line = { call: id, approval: verdict.approval ?? null, input: verdict.input };
    appendFileSync(journal, `${JSON.stringify(line)}\n`);
    if (dies === 'after') process.kill(process.pid, 'SIGKILL');
  }
  running.delete(id);
  const outcome = verdict.allowed ? 'allowed' : verdict.outcome;
  say({
    kind: 'ended',
    call: id,
    outcome,
    reason: verdict.because.kind,
    approval: (verdict.allowed && verdict.approval) || null,
  });
}

async function obey(command: Command): Promise<void> {
  switch (command.do) {
    case 'run':
      for (const call of command.calls) void run(call);
      break;
    case 'clock':
      clock = command.at;
      await coordinator.expireDue();
      break;
    case 'abort':
      running.get(command.call)?.abort();
      break;
    case 'decide': {
      const outcome = await coordinator.decide(command.approval, command.answer);
      const by = 'approval' in outcome ? outcome.approval.decision?.by : undefined;
      say({ kind: 'decided', approval: command.approval, outcome: outcome.outcome, by: by ?? null });
      break;
    }
  }
  say({ kind: 'done', number: command.number });
}

say({ kind: 'ready' });
for await (const line of createInterface({ input: process.stdin })) void obey(JSON.parse(line));
process.exit(0);
