/**
 * The file that a batch reads its requests from, one in a line. An upstream runs them with the account of
 * all keys, so they are checked when the file comes in.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { parseJsonBody } from '../../http/json-body.js';
import type { FormPart } from '../requests/multipart-form.js';
import { answersIn, type Reference, referencesIn } from '../requests/references.js';

const NEWLINE = 0x0a;
/** A line without any of these names nothing. Some servers do not mind the case; a letter may be an escape. */
const NAMING = /file_id|skill_id|previous_response_id|conversation|item_reference|\\u00[4-7]/i;
/** Lines between two turns of the event loop. */
const STEP_LINES = 500;

/** Together's name for it is `batch-api`. */
export function isBatchInput(body: Buffer, parts: readonly FormPart[]): boolean {
  return parts.some(
    ({ name, from, to }) =>
      name.toLowerCase() === 'purpose' && /batch/i.test(body.toString('latin1', from, to)),
  );
}

interface ReadLines {
  /** Lines that name something are written as they were read; all others are as they came. */
  bytes: Buffer;
  references: Reference[];
}

/** Throws `invalid_request` for a text that is not UTF-8, and for a line that may name something and is no JSON. */
export async function readBatchLines(file: Buffer, maxDepth: number): Promise<ReadLines> {
  // UTF-16 without a mark is UTF-8 with NUL between the letters.
  if (!isUtf8(file) || file.includes(0)) throw wrongLine('The file is not UTF-8. Encode it as UTF-8.');
  const pieces: Buffer[] = [];
  const references: Reference[] = [];
  let written = 0;
  for (let from = 0, number = 1; from < file.length; number += 1) {
    const newline = file.indexOf(NEWLINE, from);
    const end = newline < 0 ? file.length : newline;
    const line = file.subarray(from, end);
    if (NAMING.test(line.toString('latin1'))) {
      const value = parseLine(line, number, maxDepth);
      for (const found of [...referencesIn(value), ...answersIn(isObject(value) ? value['body'] : undefined)])
        references.push(found);
      pieces.push(file.subarray(written, from), Buffer.from(JSON.stringify(value)));
      written = end;
    }
    from = end + 1;
    if (number % STEP_LINES === 0) await nextTurn();
  }
  pieces.push(file.subarray(written));
  return { bytes: Buffer.concat(pieces), references };
}

function parseLine(line: Buffer, number: number, maxDepth: number): unknown {
  try {
    return parseJsonBody(line, maxDepth);
  } catch (error) {
    const why = error instanceof GatewayError ? error.message : '';
    throw wrongLine(`Line ${number} of the file cannot be read. ${why}`);
  }
}

function wrongLine(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'file' });
}
