import type { DialectName } from '../src/core/conversation.js';

/** What the SDKs can say and no source of the dialect names. */
export function unknownTypes(): Record<DialectName, string[]>;
/** Of these, what sdk-types.json does not explain; and what it explains without need. */
export function unexplained(): { missing: string[]; stale: string[] };
