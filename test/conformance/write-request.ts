/** A request that is given once, as a client of each wire writes it. */
import type { JsonRecord } from '../support/violation.js';
import type { RequestSpec } from './case-schema.js';
import type { WireName } from './dialects.js';
import { writeChat } from './write-chat.js';
import { writeMessages } from './write-messages.js';
import { writeResponses } from './write-responses.js';

export type Writer = (request: RequestSpec) => JsonRecord;

const WRITERS: Readonly<Record<WireName, Writer>> = {
  messages: writeMessages,
  chat: writeChat,
  responses: writeResponses,
};

/** Without `model` and `stream`. Throws where the wire has no words for something. */
export function writeRequest(wire: WireName, request: RequestSpec): JsonRecord {
  return WRITERS[wire](request);
}
