/** OpenAI Chat Completions (`/v1/chat/completions`), as spoken by the OpenAI SDKs and most model servers. */
import type { Dialect } from '../shared/dialect.js';
import { answerForm } from './answer-form.js';
import { decodeRequest } from './decode-request.js';
import { decodeResponse } from './decode-response.js';
import { createStreamDecoder } from './decode-stream.js';
import { encodeRequest } from './encode-request.js';
import { encodeResponse } from './encode-response.js';
import { createStreamEncoder } from './encode-stream.js';
import { decodeError, encodeError } from './errors.js';
import { DIALECT } from './wire.js';

export const openaiChat: Dialect = {
  name: DIALECT,
  ingress: {
    lists: new Set(['tools', 'messages']),
    decodeRequest,
    encodeResponse,
    createStreamEncoder,
    encodeError,
    answerForm,
  },
  egress: { encodeRequest, decodeResponse, createStreamDecoder, decodeError },
};
