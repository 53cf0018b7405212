/** How long the gateway keeps answers and conversations of `/v1/responses`. */
const DAY_MS = 24 * 3600 * 1000;
/** As long as the API itself keeps answers. */
export const KEPT_MS = 30 * DAY_MS;
/** What is still used is kept for longer, once it is this close to its end. */
export const RENEW_BEFORE_MS = 15 * DAY_MS;
