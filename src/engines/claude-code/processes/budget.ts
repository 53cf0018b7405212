/** How many processes of Claude Code there may be: `max_live`, those that wait for a conversation included. */

export interface ProcessBudget {
  conversations: number;
  spares: number;
}

/** Spares make the first answer of a conversation fast; they must not leave too little for the others. */
const A_SPARE_FOR = 3;
const MOST_SPARES = 2;

export function processBudget(maxLive: number): ProcessBudget {
  const spares = Math.min(MOST_SPARES, Math.floor(maxLive / A_SPARE_FOR));
  return { conversations: maxLive - spares, spares };
}
