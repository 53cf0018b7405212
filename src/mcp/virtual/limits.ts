/** Every bound on what a client of the virtual servers can cost. Tests shrink some; nothing else changes them. */
export const VIRTUAL_LIMITS = {
  /** Of all keys, and of one; states of tools without a session as well. Beyond that the longest idle one of the key ends. */
  sessions: 1024,
  sessionsOfKey: 64,
  /** Without a request, an open stream or a running call. */
  idleMs: 30 * 60 * 1000,
  sweepMs: 60 * 1000,
  /** Calls of one session at once. */
  calls: 64,
  /** Requests of one key without a session, at once; streams that wait for news count as well. */
  exchangesOfKey: 256,
  /** A client may keep the list of tools for so long; it can also listen for changes. */
  listTtlMs: 10_000,
  discoverTtlMs: 60 * 60 * 1000,
  /** A client whose connection broke may come back for the answers that it waits for. */
  reconnectMs: 20_000,
  /** Kept for it, of one session. */
  storedEvents: 256,
  storedChars: 8 * 1024 * 1024,
  /** Clients give up on a call that says nothing: Claude Code after 300 s. */
  progressMs: 15_000,
  /** What a tool reports by itself is passed on at most so often. */
  progressGapMs: 250,
  progressChars: 500,
  /** For a client to say which folder it works in. */
  rootsMs: 10_000,
  /** A client that waits for a task is to ask so often. */
  taskPollMs: 1000,
  /** A task is kept so long after its result was asked for. */
  taskKeptMs: 60_000,
  changedInputChars: 4000,
  /** What a form at the client may have to show; longer questions are answered elsewhere. */
  questionChars: 4000,
} as const;

export type VirtualLimits = { readonly [K in keyof typeof VIRTUAL_LIMITS]: number };
