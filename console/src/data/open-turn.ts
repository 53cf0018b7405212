/** The turn that runs in the conversation that is shown, for what acts on it from elsewhere in the page. */
import { useEffect, useRef } from 'react';
import { sharedValue } from './shared-value.js';

interface OpenTurn {
  /** As its button does: what was withdrawn goes back to where it was typed. */
  stop(): void;
}

const current = sharedValue<OpenTurn | undefined>(undefined);

export const useOpenTurn = current.use;

/** By the one component that has the button. */
export function useAsOpenTurn(running: boolean, stop: () => void): void {
  const latest = useRef(stop);
  latest.current = stop;
  useEffect(() => {
    if (!running) return;
    current.set({ stop: () => latest.current() });
    return () => current.set(undefined);
  }, [running]);
}
