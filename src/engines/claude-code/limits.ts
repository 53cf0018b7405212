/** How long a turn waits for its process. */
export const PATIENCE = {
  /** From a message to the first sign of life: a busy machine needs a second or two. */
  heardMs: 30_000,
  /**
   * A built-in after a call of the client may have to wait for it. That it has not begun is seen only
   * by nothing happening for this long.
   */
  quietMs: 250,
  /** What Claude Code says comes before what it asks next; if ever it does not, nothing must hang. */
  stuckMs: 20_000,
} as const;

export type Patience = Readonly<Record<keyof typeof PATIENCE, number>>;
