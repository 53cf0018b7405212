/** What makes a gateway one of several processes that answer on one port. */

export interface WorkerRole {
  /** From 1. */
  index: number;
  /** How many there are. */
  workers: number;
  /** The name of all of them together: their machine has the folder of a session, whichever of them works on it. */
  node: string;
  /** Where siblings and other nodes reach this one: a port of 0 is a free one. */
  own: { host: string; port: number; advertised: string };
  /** What they know each other by. */
  secret: string;
  consoleToken: string;
}

export const workerName = ({ node, index }: Pick<WorkerRole, 'node' | 'index'>): string => `${node}/${index}`;
