/**
 * Events of several calls at once, read by one consumer. What may come without end (progress)
 * waits for the consumer; what comes once (results) never does.
 */
export interface EventQueue<T> {
  /** Resolves at once while there is room, else when the consumer has caught up or is gone. */
  push(event: T): Promise<void>;
  /** From now on pushes do not wait for the consumer: it may have stopped reading. */
  hurry(): void;
  /** No more events; those in the queue are still read. */
  end(): void;
  read(): AsyncGenerator<T, void, void>;
}

const ROOM = 64;

export function createEventQueue<T>(room = ROOM): EventQueue<T> {
  let waiting: T[] = [];
  let ended = false;
  let hurried = false;
  let wakeReader = () => {};
  let writers: (() => void)[] = [];

  const releaseWriters = (): void => {
    const released = writers;
    writers = [];
    for (const release of released) release();
  };

  return {
    push(event) {
      if (ended) return Promise.resolve();
      waiting.push(event);
      wakeReader();
      if (hurried || waiting.length < room) return Promise.resolve();
      return new Promise((resolve) => writers.push(resolve));
    },
    hurry() {
      hurried = true;
      releaseWriters();
    },
    end() {
      ended = true;
      wakeReader();
      releaseWriters();
    },
    async *read() {
      try {
        for (;;) {
          const batch = waiting;
          waiting = [];
          yield* batch;
          releaseWriters();
          if (waiting.length > 0) continue;
          if (ended) return;
          await new Promise<void>((resolve) => {
            wakeReader = resolve;
          });
        }
      } finally {
        ended = true;
        waiting = [];
        releaseWriters();
      }
    },
  };
}
