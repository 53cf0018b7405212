import { LimitClaims } from '../../cluster/limit-claims.js';
import type { Log } from '../../observability/log.js';
import type { Store } from '../../store/store.js';

/** Undefined for a gateway on its own, whose limits nobody shares. `node` is the name of this process. */
export function openLimitClaims(
  store: Pick<Store, 'limitClaims'>,
  node: string | undefined,
  log: Pick<Log, 'warn'>,
): LimitClaims | undefined {
  if (node === undefined || store.limitClaims === undefined) return undefined;
  return new LimitClaims({
    store: store.limitClaims,
    node,
    onAway: (error) =>
      log.warn({ err: error }, 'limits are counted by this node alone while the store is away'),
  });
}
