/** Apart from log.ts: the command line checks them before anything of the logger is loaded. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
