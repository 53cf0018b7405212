/**
 * Turns that run without a connection: the request is stored here before the turn
 * begins and goes when it has ended, so that a gateway that starts again knows what it owes.
 */

export interface NewRun {
  id: string;
  principal: string;
  /** The owner, who may resume it: one process of one machine, possibly one that stopped. */
  owner: string;
  /** JSON, kept exactly: the same request resumes the same turn. */
  request: unknown;
}

export interface Run extends NewRun {
  /** Once it is known. The run goes with its session. */
  session?: string;
  /** `interrupted`: it is not resumed automatically. */
  state: 'running' | 'interrupted';
  /** How often it was begun or resumed. */
  attempts: number;
  startedAt: number;
}

export interface RunClaim {
  /** The owner that the claimant has seen; another one means that another process claimed it first. */
  from: string;
  to: string;
  attempts: number;
}

export interface RunStore {
  /** False when the id is taken. */
  create(run: NewRun): Promise<boolean>;
  get(id: string): Promise<Run | undefined>;
  /** False when the run or the session is not there any more. */
  attach(id: string, session: string): Promise<boolean>;
  /** The newest run of a session. */
  ofSession(session: string): Promise<Run | undefined>;
  /** The newest of each that has one, without what was asked. */
  ofSessions(sessions: readonly string[]): Promise<ReadonlyMap<string, Omit<Run, 'request'>>>;
  /** All that are `running`, the oldest first, without what was asked. */
  running(): Promise<Omit<Run, 'request'>[]>;
  /** For exactly one of those who race: it is `running` and theirs. */
  claim(id: string, claim: RunClaim): Promise<Run | undefined>;
  /** It broke off, and waits for a person. False when it is not there, or not the owner's. */
  interrupt(id: string, owner: string): Promise<boolean>;
  /** A gateway that stops leaves what it has to the next one. */
  release(owner: string, to: string): Promise<number>;
  delete(id: string): Promise<boolean>;
  /** The runs of a session that was continued. */
  deleteOthers(session: string, keep: string): Promise<number>;
}
