/** What one command may take of the gateway's memory, disk and patience. */
export const COMMAND_LIMITS = {
  /** Of its output, kept in memory: the first and the last so many bytes. */
  headBytes: 64 * 1024,
  tailBytes: 64 * 1024,
  /** A command that prints no more than this leaves no file behind. */
  logAfterBytes: 30_000,
  logBytes: 64 * 1024 * 1024,
  /** Output that waits for the disk; beyond it the command is made to wait. */
  logPendingBytes: 1024 * 1024,
  /** Between asking to end and ending. */
  graceMs: 3000,
  /** How long output may still come once the command itself is gone. */
  drainMs: 150,
  /** What the command can say on the extra descriptor. */
  captureBytes: 64 * 1024,
} as const;

export type CommandLimits = { [K in keyof typeof COMMAND_LIMITS]: number };
