/** Everything that bounds a request or a connection, in one place. Tests inject smaller ones. */
export interface Limits {
  /** Largest body, also after decompression. */
  bodyBytes: number;
  /** Largest body of an /api route. */
  apiBodyBytes: number;
  /** Deepest nesting of a JSON body. Everything later may recurse over it. */
  jsonDepth: number;
  headerBytes: number;
  /** A connection must have sent a whole head by then. */
  headersMs: number;
  /** Longest silence within a body. */
  bodyIdleMs: number;
  /** A whole body must have come by then. */
  bodyMs: number;
  /** An idle connection is kept this long: longer than the 60 s of common proxies in front. */
  keepAliveMs: number;
  /** How often Node looks at the time-outs of heads. */
  checkMs: number;
  /** After a refusal the rest of a body is read and thrown away, so that the client gets to read the answer. */
  lingerMs: number;
  /** A stream that said nothing for this long gets a ping. */
  pingMs: number;
  /** A reader that takes nothing for this long is given up. */
  stallMs: number;
  /** A WebSocket is open for at most this long. */
  socketMs: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  bodyBytes: 32 * 1024 * 1024,
  apiBodyBytes: 1024 * 1024,
  jsonDepth: 200,
  headerBytes: 32 * 1024,
  headersMs: 20_000,
  bodyIdleMs: 30_000,
  bodyMs: 300_000,
  keepAliveMs: 65_000,
  checkMs: 5_000,
  lingerMs: 5_000,
  pingMs: 15_000,
  stallMs: 300_000,
  socketMs: 3_600_000,
});
