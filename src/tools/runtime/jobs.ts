/** Commands of a session that go on in the background. Owned by the session and ended with it. */

export interface Job {
  readonly id: string;
  readonly command: string;
  readonly startedAt: number;
  state(): JobState;
  /** What was printed since the last time that this was asked. */
  readNew(): Promise<JobOutput>;
  /** A file with everything that it printed. */
  readonly logPath: string;
  /** Ends the process group: politely, then not. Resolves when it is gone. */
  stop(): Promise<void>;
  /** Resolves when it has ended. */
  readonly ended: Promise<JobState>;
}

export type JobState =
  | { status: 'running' }
  | { status: 'exited'; code: number }
  | { status: 'killed'; signal: string }
  | { status: 'failed'; message: string };

interface JobOutput {
  text: string;
  /** The same with its terminal codes, where it has any. */
  shown?: string;
  /** Characters left out of `text`; the log file has them. */
  omitted: number;
}

export interface JobTable {
  add(job: Job): void;
  get(id: string): Job | undefined;
  list(): readonly Job[];
  /** Ends all of them; later additions are stopped at once. */
  close(): Promise<void>;
}

export function createJobTable(): JobTable {
  const jobs = new Map<string, Job>();
  let closed = false;
  return {
    add(job) {
      jobs.set(job.id, job);
      if (closed) void job.stop();
    },
    get: (id) => jobs.get(id),
    list: () => [...jobs.values()],
    async close() {
      closed = true;
      await Promise.all([...jobs.values()].map((job) => job.stop()));
      jobs.clear();
    },
  };
}
