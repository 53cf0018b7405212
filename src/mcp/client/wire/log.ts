/** The part of the gateway's log that is used here. */
export interface McpLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}
