/** Anthropic Messages (`/v1/messages`), as spoken by Claude Code and the Anthropic SDKs. */
import type { Dialect } from '../shared/dialect.js';
import { decodeRequest } from './decode-request.js';
import { decodeResponse } from './decode-response.js';
import { createStreamDecoder } from './decode-stream.js';
import { encodeRequest } from './encode-request.js';
import { encodeResponse } from './encode-response.js';
import { createStreamEncoder } from './encode-stream.js';
import { decodeError, encodeError } from './errors.js';
import { DIALECT } from './wire.js';

export { decodeCountTokensRequest } from './decode-request.js';

export const anthropicMessages: Dialect = {
  name: DIALECT,
  ingress: {
    lists: new Set(['system', 'tools', 'messages']),
    decodeRequest,
    encodeResponse,
    createStreamEncoder: (_request, answer) => createStreamEncoder(answer),
    encodeError,
  },
  egress: { encodeRequest, decodeResponse, createStreamDecoder, decodeError },
};
