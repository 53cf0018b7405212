import type { Policy } from '../judge/policy.js';

/** What the gate and the coordinator ask of the rules. */
export type Judge = Pick<Policy, 'decide' | 'readable' | 'hidden'>;

/** The log for operators. The gateway's log has this shape. */
export interface PermissionLog {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
