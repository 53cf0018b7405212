/** The folder that an agent works in: the operator's choice, never the model's or the repository's. */

export interface Workspace {
  /** The real path of the root: no links left in it. */
  readonly root: string;
  /** The person's home, for `~/` in paths and rules. */
  readonly home: string;
}
