/**
 * Structured logs: one JSON line for each event, on stderr. stdout belongs to the command, which
 * prints the address there and nothing else, so that a script can read it.
 */
import { pino } from 'pino';
import { LineWriter } from './line-writer.js';

export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  fatal(facts: object, message: string): void;
}

export interface GatewayLog extends Log {
  /** Resolves when everything logged so far is written, or its destination is closed. */
  flush(): Promise<void>;
}

export { LOG_LEVELS } from './log-levels.js';

interface LogOptions {
  level: string;
  /** In every line, where several processes write to one place. */
  facts?: Readonly<Record<string, number | string>> | undefined;
  /** Takes secrets out of a line, whatever put them there. */
  redact?: (line: string) => string;
  /** A file descriptor; stderr unless a test says otherwise. */
  fd?: number;
}

/** A process that ends waits so long for its last lines. */
const FLUSH_MS = 500;

export function createLog({ level, facts, redact, fd = 2 }: LogOptions): GatewayLog {
  const out = new LineWriter(fd);
  const logger = pino(
    {
      level,
      base: facts ?? null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      ...(redact === undefined ? {} : { hooks: { streamWrite: redact } }),
    },
    out,
  );
  return {
    debug: (facts, message) => logger.debug(facts, message),
    info: (facts, message) => logger.info(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    error: (facts, message) => logger.error(facts, message),
    fatal: (facts, message) => logger.fatal(facts, message),
    flush: () => out.idle(FLUSH_MS),
  };
}
