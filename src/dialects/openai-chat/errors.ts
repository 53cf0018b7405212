/** Errors of this wire, both ways. */
export { encodeOpenAiError as encodeError } from '../shared/openai-error-shape.js';
export { decodeOpenAiError as decodeError } from '../shared/openai-errors.js';
