/** Of commands: time and output. */
export const BASH_LIMITS = {
  timeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  backgroundTimeoutMs: 1_800_000,
  maxBackgroundTimeoutMs: 7_200_000,
  /** That run at the same time, in one session. */
  jobs: 16,
  /** Of exported variables that a session keeps, as the script that sets them. */
  variableBytes: 8_000,
  variables: 100,
  commandBytes: 512_000,
  /**
   * Of the script around a command that is given as an argument: the system's longest is 128 KiB, and
   * a sandbox may quote it once more. The command of a longer one is read from a descriptor.
   */
  scriptBytes: 32_000,
  /** Characters of output for the model; notes come on top. */
  outputChars: 29_000,
  /** Characters of output for people. */
  dataChars: 100_000,
  /** How often it is looked at what a background command has made. */
  lookMs: 2_000,
  progressMs: 200,
  progressChars: 8_000,
} as const;
