/** What a connection stands on, whichever transport it is. */
import type { McpLimits } from './limits.js';
import type { McpLog } from './log.js';
import type { Transport } from './sdk.js';

export interface Wire {
  readonly transport: Transport;
  /** Ends the connection and all that belongs to it: sessions, sockets, processes. Resolves when they are gone. */
  close(): Promise<void>;
  /** How it ended, where it did so by itself: an exit code, what broke it. */
  ending(): string | undefined;
  /** What it said last, to people. */
  lastWords(): string | undefined;
  /** The server refused us for want of a credential. */
  refusedCredential(): boolean;
}

export interface WireContext {
  name: string;
  limits: McpLimits;
  log: McpLog;
  /** Takes secrets of this server out of a text. */
  redact(text: string): string;
  /** The connection is of no more use, though the transport itself has not noticed. */
  onBroken(problem: string): void;
  /** Something went wrong that may or may not be the end; worth a ping. */
  onDoubt(): void;
}
