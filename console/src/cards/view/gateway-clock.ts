import { useConsole } from '../../data/store.js';
import { clockEvery } from '../../ui/clock.js';

const useSeconds = clockEvery(1_000);

/** The gateway's clock, by the second: what is not `active` is not drawn again for it. */
export function useGatewayClock(active: boolean): number {
  const skew = useConsole((state) => state.skewMs);
  return useSeconds(active) + skew;
}
