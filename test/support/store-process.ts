/** What the tests run in processes of their own, to be killed or raced. Talks in lines of JSON. */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { sessionLease } from '../../src/store/leases.js';
import { openStore } from '../../src/store/open/open-store.js';
import type { Store } from '../../src/store/store.js';

const FAR = 8_000_000_000_000;

/** Written at once: what the parent has read was said after the store had answered. */
function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Acts on the store until it is killed, and says each thing only when the store has it. */
async function writeForever(store: Store): Promise<void> {
  const session = `s${process.pid}`;
  const base = { principal: 'p', model: 'm', engine: 'native', expiresAt: FAR };
  await store.sessions.create({ id: session, state: 'live', ...base });
  const grant = await store.leases.acquire(sessionLease(session), 'child', FAR);
  if (!grant.granted) throw new Error('the lease should be free');
  for (let n = 0; ; n++) {
    const id = `${session}-${n}`;
    const call = { id, name: 'f', input: { n }, runBy: 'server' as const };
    const step = { append: [{ after: n, entries: [{ uuid: id, message: { n } }] }], open: [call] };
    const outcome = await store.sessions.checkpoint(session, grant.lease, step);
    if (!outcome.ok) throw new Error(outcome.reason);
    say({ kind: 'call', session, id });
    await store.toolCalls.record(
      session,
      [{ id, content: [{ type: 'text', text: id }], isError: false }],
      'child',
    );
    say({ kind: 'result', session, id });
    await store.approvals.create({
      ...{ id, session, principal: 'p', toolUseId: id, tool: 'f', digest: id },
      ...{ input: { n }, describe: {}, suggestions: [] },
    });
    await store.approvals.decide(id, { state: 'allowed', digest: id, by: 'child', via: 'api' });
    say({ kind: 'decision', session, id });
  }
}

/** Tries to win every race, and says which it won. */
async function race(store: Store, rounds: number): Promise<void> {
  const me = `node-${process.pid}`;
  say({ kind: 'ready' });
  await new Promise((resolve) => createInterface({ input: process.stdin }).once('line', resolve));
  for (let n = 0; n < rounds; n++) {
    const grant = await store.leases.acquire(`lease-${n}`, me, FAR);
    const decided = await store.approvals.decide(`a${n}`, {
      ...{ state: 'allowed', digest: 'd', by: me, via: 'api' },
    });
    const used = await store.approvals.use(`a${n}`);
    const content = [{ type: 'text' as const, text: me }];
    const recorded = await store.toolCalls.record('s', [{ id: `c${n}`, content, isError: false }], me);
    say({
      kind: 'round',
      lease: grant.granted ? grant.lease.token : null,
      decided: decided.outcome === 'decided',
      by: decided.outcome === 'unknown' ? null : decided.approval.decision?.by,
      used,
      recorded: recorded.recorded.length === 1,
      conflict: recorded.conflicts.length === 1,
    });
  }
  await store.close();
  process.exit(0);
}

const [mode, path, rounds] = process.argv.slice(2);
const store = await openStore(`sqlite:${path}`, { baseDir: '/' });
await (mode === 'race' ? race(store, Number(rounds)) : writeForever(store));
