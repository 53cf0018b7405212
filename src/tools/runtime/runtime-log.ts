/** The runtime's log. The gateway's log has this shape. */
export interface RuntimeLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const SILENT: RuntimeLog = { debug() {}, info() {}, warn() {}, error() {} };
