/** Asks an address that a person named for its models, and says plainly what was wrong. */
import type { RemoteUpstreamConfig } from '../config/schema.js';
import { pinnedLookup } from '../transport/guarded-fetch/address-policy.js';
import { FetchProblem, problemOf } from '../transport/guarded-fetch/fetch-problem.js';
import { HostCheck } from '../transport/guarded-fetch/host-check.js';
import { HttpClient } from '../transport/http-client/http-client.js';
import { endpointOf, modelListRequest } from './endpoint.js';
import { readModelList } from './read-model-list.js';

const TOTAL_MS = 15_000;
const MOST_BYTES = 16 * 1024 * 1024;

export type ModelsAnswer =
  | { kind: 'models'; models: string[] }
  /** It answered, and has no list of models. */
  | { kind: 'no-list'; status: number }
  | { kind: 'refused'; status: number }
  /** `why` is a sentence. */
  | { kind: 'failed'; why: string };

/** Private networks are the operator's own; addresses that are never a server of models are refused. Throws FetchProblem. */
export async function checkAddress(
  address: string,
  signal: AbortSignal = AbortSignal.timeout(TOTAL_MS),
): Promise<readonly string[] | undefined> {
  const url = new URL(address);
  return new HostCheck({ allowPrivate: [url.host] }).addressesOf(url, signal);
}

/** Follows no redirect. Nothing that the server says is repeated: it may repeat the key. Never rejects. */
export async function askForModels(
  upstream: Pick<RemoteUpstreamConfig, 'dialect' | 'base_url' | 'api_key'>,
  stopped: AbortSignal,
): Promise<ModelsAnswer> {
  const { url, headers } = modelListRequest(
    endpointOf({ ...upstream, timeout_s: TOTAL_MS / 1000 }),
    upstream.dialect,
  );
  const patience = AbortSignal.timeout(TOTAL_MS);
  const signal = AbortSignal.any([stopped, patience]);
  let client: HttpClient | undefined;
  try {
    const addresses = await checkAddress(upstream.base_url, signal);
    client = new HttpClient({
      maxIdlePerHost: 0,
      ...(addresses === undefined ? {} : { env: {}, lookup: pinnedLookup(addresses) }),
    });
    const { status, body } = await client.request({
      ...{ method: 'GET', url, headers, signal },
      ...{ connectTimeoutMs: TOTAL_MS, headersTimeoutMs: 0, idleTimeoutMs: 0 },
    });
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of body) {
      size += part.length;
      if (size > MOST_BYTES) return { kind: 'no-list', status };
      parts.push(part);
    }
    if (status === 401 || status === 403) return { kind: 'refused', status };
    const models = status === 200 ? readModelList(parsed(Buffer.concat(parts))) : undefined;
    if (models === undefined) return { kind: 'no-list', status };
    return { kind: 'models', models: [...new Set(models.map(({ id }) => id))] };
  } catch (error) {
    const why = patience.aborted
      ? `${url.host} did not answer within ${TOTAL_MS / 1000} s.`
      : (error instanceof FetchProblem ? error : problemOf(error, url.host)).message;
    return { kind: 'failed', why };
  } finally {
    await client?.close();
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
