/** What the killed process and the one that kills it say to each other. */
import type { PersonAnswer } from '../../src/permissions/approvals.js';

/** Three processes write to the store at once, and none of them lets go for long: it is worth waiting for. */
export const PATIENT = { lockWaitMs: 60_000 };

export interface ChildCall {
  id: string;
  session: string;
  command: string;
  /** The process ends itself between the approval and the work, or between the work and saying so. */
  dies?: 'before' | 'after';
}

export type Order =
  | { do: 'run'; calls: readonly ChildCall[] }
  | { do: 'clock'; at: number }
  | { do: 'abort'; call: string }
  | { do: 'decide'; approval: string; answer: PersonAnswer };

export type Command = Order & { number: number };

export type ChildLine =
  | { kind: 'ready' }
  | { kind: 'done'; number: number }
  | { kind: 'asked'; call: string; approval: string }
  | { kind: 'decided'; approval: string; outcome: string; by: string | null }
  | { kind: 'ended'; call: string; outcome: string; reason: string; approval: string | null }
  | { kind: 'problem'; message: string };
