/** What other nodes do, as if it had been done here: people who look here see it, and who waits here goes on. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../observability/log.js';
import type { ApprovalCoordinator } from '../permissions/approvals.js';
import type { KeyRing } from '../server/access/key-ring.js';
import type { ConnectedSources } from '../server/console-api/events/sources.js';
import type { Reload } from '../server/console-api/reload.js';
import type { Bus, Change } from '../store/bus.js';

interface Followers {
  approvals: Pick<ApprovalCoordinator, 'follow'>;
  keys: Pick<KeyRing, 'refresh'>;
  sources: Pick<ConnectedSources, 'follow'>;
  /** Sign-ins have ended, by their ids. */
  endSignIns(ids: readonly string[]): void;
  reload: Reload;
  /** Takes upstreams that were connected or removed. */
  refreshUpstreams(by: string): Promise<unknown>;
  /** Takes MCP servers that were added or removed. Rejects as the store does. */
  refreshMcp(): Promise<unknown>;
  /** This process, in what it publishes. */
  origin: string;
  log: Pick<Log, 'warn'>;
}

/** Until the returned function is called. Rejects as the store does. */
export async function followChanges(bus: Bus, followers: Followers): Promise<() => void> {
  const { approvals, keys, sources, endSignIns, reload, origin, log } = followers;
  const stop = new AbortController();
  const unsubscribe = await bus.subscribe((changes) => {
    // Keys first: what follows is for who may still see it. The ring logs what goes wrong, and looks again.
    if (changes.some(({ kind }) => kind === 'key')) keys.refresh().catch(() => {});
    const take = (kind: 'upstream' | 'mcp', refresh: () => Promise<unknown>): void => {
      if (changes.some((change) => change.kind === kind)) void taken(NAMES[kind], refresh, log, stop.signal);
    };
    take('upstream', () => followers.refreshUpstreams('another node'));
    take('mcp', () => followers.refreshMcp());
    const ended = changes.flatMap((change) => (change.kind === 'sign-in' ? [change.id] : []));
    if (ended.length > 0) endSignIns(ended);
    approvals.follow(changes).catch((error: unknown) => {
      log.warn({ err: error }, 'changes of approvals could not be read; those that wait are looked at again');
    });
    sources.follow(changes);
    const asked = changes.find((change) => isForeignReload(change, origin));
    // It has logged why.
    if (asked?.kind === 'reload') reload(`${asked.by} (another node)`).catch(() => {});
  });
  return () => {
    stop.abort();
    unsubscribe();
  };
}

const RETRY_MS = { first: 1000, longest: 30_000 } as const;

const NAMES = { upstream: 'upstreams', mcp: 'MCP servers' } as const;

/** One that was removed must not be used any more, so it is tried until it holds. Never rejects. */
async function taken(
  what: string,
  refresh: () => Promise<unknown>,
  log: Followers['log'],
  signal: AbortSignal,
): Promise<void> {
  for (
    let waitMs: number = RETRY_MS.first;
    !signal.aborted;
    waitMs = Math.min(2 * waitMs, RETRY_MS.longest)
  ) {
    try {
      await refresh();
      return;
    } catch (error) {
      log.warn({ err: error }, `${what} that another node changed could not be taken; it is tried again`);
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

function isForeignReload(change: Change, origin: string): boolean {
  return change.kind === 'reload' && change.origin !== origin;
}
