/** OpenAI Responses (`/v1/responses`), as spoken by Codex and the OpenAI SDKs. */
import type { Dialect } from '../shared/dialect.js';
import { answerForm } from './answer-form.js';
import { decodeRequest } from './decode-request.js';
import { decodeResponse } from './decode-response.js';
import { createStreamDecoder } from './decode-stream.js';
import { encodeRequest } from './encode-request.js';
import { encodeResponse } from './encode-response.js';
import { createStreamEncoder } from './encode-stream.js';
import { decodeError, encodeError, failsInAnswer } from './errors.js';
import { DIALECT } from './wire.js';

export { referenceOf } from './decode-input.js';
export { responseOfItem } from './encode-items.js';
export { encodeSilence } from './encode-stream.js';

export const openaiResponses: Dialect = {
  name: DIALECT,
  ingress: {
    lists: new Set(['tools', 'input']),
    decodeRequest,
    encodeResponse,
    createStreamEncoder,
    encodeError,
    failsInAnswer,
    answerForm,
  },
  egress: { encodeRequest, decodeResponse, createStreamDecoder, decodeError },
};
