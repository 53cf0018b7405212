/** Every bound of turns that the console begins. */
export const CHAT_LIMITS = {
  /** How often a turn is begun or gone on with by itself. */
  attempts: 3,
  /** How long a repeated `client_id` is known again. */
  clientIdMs: 24 * 3600 * 1000,
} as const;
