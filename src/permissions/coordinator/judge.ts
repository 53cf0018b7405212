import type { Policy } from '../policy.js';

/** What the gate and the coordinator ask of the rules. */
export type Judge = Pick<Policy, 'decide' | 'readable' | 'hidden'>;

/** What operators are told. The gateway's log has this shape. */
export interface PermissionLog {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
