/** A body as bytes into a value: UTF-8, JSON, not too deep. Every refusal says where and why. */
import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '../../core/errors.js';
import { isDeeper } from '../../core/json-text.js';
import { nestsDeeper } from '../../dialects/shared/scan-json.js';
import { locateJsonProblem } from './json-position.js';

/**
 * Above this the nesting is checked before parsing: `JSON.parse` keeps about 50 bytes for each open
 * bracket, so that a body of nothing but brackets would take a hundred times its size.
 */
const PRESCAN_BYTES = 256 * 1024;

/** A larger text is not walked for the place of its mistake: that takes a third of a second for a MiB. */
const LOCATED_CHARS = 1024 * 1024;

export function parseJsonBody(bytes: Buffer, maxDepth: number): unknown {
  const text = decodeText(bytes);
  if (text.trim() === '') {
    throw new GatewayError('invalid_request', 'The body is empty. Send a JSON object.');
  }
  if (bytes.length > PRESCAN_BYTES && nestsDeeper(bytes, maxDepth)) throw tooDeep(maxDepth);
  const value = parse(text);
  if (isDeeper(value, maxDepth)) throw tooDeep(maxDepth);
  return value;
}

function decodeText(bytes: Buffer): string {
  // One byte a character all the way when there is nothing else: half the memory, a tenth of the time.
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) {
    throw new GatewayError('invalid_request', 'The body is not valid UTF-8. Encode it as UTF-8.');
  }
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const problem = text.length > LOCATED_CHARS ? undefined : locateJsonProblem(text);
    const where =
      problem === undefined
        ? ''
        : ` at line ${problem.line}, column ${problem.column} (offset ${problem.offset}): expected ${problem.expected}`;
    throw new GatewayError('invalid_request', `The body is not valid JSON${where}.`);
  }
}

function tooDeep(maxDepth: number): GatewayError {
  return new GatewayError('invalid_request', `The body nests deeper than ${maxDepth} levels. Flatten it.`);
}
