/** Every bound on what a server can cost the gateway. Tests shrink some; nothing else changes them. */
export const MCP_LIMITS = {
  /** From the start of a connection until both sides know what they speak. */
  initialiseMs: 30_000,
  /** A program that says nothing for so long to the question for the newest revision is of the older era. */
  probeMs: 5_000,
  /** For the whole list of tools, all pages. */
  listMs: 60_000,
  /** Answers that nothing waits for, such as those to notifications. */
  noticeMs: 30_000,
  connectMs: 10_000,
  pingMs: 10_000,

  pages: 64,
  tools: 512,
  toolNameChars: 256,
  descriptionChars: 8192,
  titleChars: 256,
  schemaChars: 128 * 1024,
  /** `tools/list_changed` is followed at most so often. */
  refreshEveryMs: 1000,

  /** One message of the server, on any transport. */
  messageBytes: 16 * 1024 * 1024,
  /** A message over the limit is skipped; a server that never ends it is ended. */
  skippedBytes: 512 * 1024 * 1024,
  /** What is not a message on stdout, since the last message. */
  strayBytes: 4 * 1024 * 1024,
  /** Written to a server that does not read. */
  unsentBytes: 32 * 1024 * 1024,
  /** Above this a server is read more slowly, so that the others have their turn. */
  floodBytes: 64 * 1024 * 1024,
  floodWindowMs: 1000,
  errorBodyBytes: 64 * 1024,

  stderrLineChars: 2000,
  stderrLogChars: 256 * 1024,
  /** Kept to say why a server ended. */
  lastWordsChars: 600,
  problemChars: 1500,

  contentBlocks: 256,
  imageBytes: 5 * 1024 * 1024,
  errorTextChars: 16 * 1024,
  /** Progress starts the clock of a call again, up to so many times its time. */
  callTimes: 10,
  /** A task is asked for as often as its server wishes, within these; without a wish every `taskPollMs`. */
  taskPollMs: 1000,
  taskPollMinMs: 100,
  taskPollMaxMs: 30_000,

  retryFirstMs: 1000,
  retryMaxMs: 60_000,
  /** A connection that held so long starts the back-off anew. */
  steadyMs: 60_000,

  /** A process is left this long after stdin was closed, and again after SIGTERM. */
  stopMs: 2000,
  endSessionMs: 2000,
  /** Connections of one server that are kept for sessions. */
  sessionLinks: 256,
  /** A sign-in has to be finished within this time. */
  signInMs: 60 * 60 * 1000,
} as const;

export type McpLimits = { readonly [K in keyof typeof MCP_LIMITS]: number };
