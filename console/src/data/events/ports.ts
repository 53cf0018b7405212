/** What the connection needs of the world around it: a browser has it, and a test makes its own. */

export interface Timers {
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Returns a function that takes it back. */
  after(ms: number, run: () => void): () => void;
}

export interface StreamPorts extends Timers {
  fetch(path: string, init: RequestInit): Promise<Response>;
}

export const browserTimers: Timers = {
  now: () => Date.now(),
  random: () => Math.random(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
