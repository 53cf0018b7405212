/**
 * Bodies of requests to the shared account. The gateway sends what it has checked: it encodes JSON again
 * from what it read, so that no server can read it in another way.
 */
import { GatewayError } from '../../../core/errors.js';
import type { Exchange } from '../../http/exchange.js';
import { parseJsonBody } from '../../http/json-body.js';
import { checkContentType, readBody } from '../../http/read-request.js';
import type { ModelApiContext } from '../requests/context.js';
import { type FormPart, isForm, readForm } from '../requests/multipart-form.js';
import { referencesIn, referencesInForm, refuseUnowned } from '../requests/references.js';
import { isBatchInput, readBatchLines } from './batch-lines.js';

export interface AccountBody {
  bytes: Buffer;
  contentType: string;
}

/** Undefined where it is empty. Throws GatewayError where it is neither JSON nor a form, or names anything that is not the key's own. */
export async function readAccountBody(
  exchange: Exchange,
  context: ModelApiContext,
): Promise<AccountBody | undefined> {
  const { limits } = context;
  const raw = await readBody(exchange, limits, limits.bodyBytes);
  if (raw.length === 0) return undefined;
  const contentType = exchange.headers['content-type'];
  if (contentType !== undefined && isForm(contentType)) {
    const parts = readForm(raw, contentType);
    await refuseUnowned(referencesInForm(raw, parts, limits.jsonDepth), exchange, context);
    const bytes = isBatchInput(raw, parts) ? await checkLines(raw, parts, exchange, context) : raw;
    return { bytes, contentType };
  }
  checkContentType(contentType);
  const value = parseJsonBody(raw, limits.jsonDepth);
  await refuseUnowned(referencesIn(value), exchange, context);
  return { bytes: Buffer.from(JSON.stringify(value)), contentType: 'application/json' };
}

/** The form with its files as they were read. */
async function checkLines(
  raw: Buffer,
  parts: readonly FormPart[],
  exchange: Exchange,
  context: ModelApiContext,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let written = 0;
  for (const { name, isFile, from, to } of parts) {
    if (!isFile && name.toLowerCase() !== 'file') continue;
    const { bytes, references } = await readBatchLines(raw.subarray(from, to), context.limits.jsonDepth);
    await refuseUnowned(references, exchange, context);
    pieces.push(raw.subarray(written, from), bytes);
    written = to;
  }
  return Buffer.concat([...pieces, raw.subarray(written)]);
}

export function emptyBody(): GatewayError {
  return new GatewayError('invalid_request', 'The body is empty. Send a JSON object or a form.');
}
