/** One request to a search provider and its JSON, with what can go wrong said for the model. */
import { HttpClient, readAll } from '../../../transport/http-client/http-client.js';
import { ToolError } from '../../runtime/tool.js';

const LIMITS = { bytes: 4_194_304, totalMs: 20_000 };

interface SearchRequest {
  provider: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  body?: unknown;
  signal: AbortSignal;
  /** What a status means at this provider. */
  explain?(status: number): string | undefined;
}

/** Where a status has no meaning of the provider's own. */
const EXPLANATIONS: Readonly<Record<number, string>> = {
  401: 'its key was refused. The operator must check tools.web_search.api_key',
  402: 'the account has no credit left. The operator must look after it',
  403: 'its key was refused. The operator must check tools.web_search.api_key',
  429: 'too many searches at once. Wait a moment before the next one',
};

/** The address is the operator's, not the model's: it may well be in a private network. */
export async function requestSearch(request: SearchRequest): Promise<unknown> {
  const { provider, url, body } = request;
  const deadline = AbortSignal.timeout(LIMITS.totalMs);
  const client = new HttpClient({ maxIdlePerHost: 0 });
  try {
    const response = await client.request({
      method: body === undefined ? 'GET' : 'POST',
      url,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'gzip',
        'user-agent': 'toolgate-websearch',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([request.signal, deadline]),
      connectTimeoutMs: 0,
      headersTimeoutMs: 0,
      idleTimeoutMs: 0,
    });
    const { status } = response;
    if (status !== 200) {
      await response.body.return();
      const why = request.explain?.(status) ?? EXPLANATIONS[status] ?? 'try again later, or go on without it';
      throw new ToolError(`The search failed: ${provider} answered with status ${status}: ${why}.`);
    }
    return parse(await readAll(response.body, LIMITS.bytes), provider);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const why = deadline.aborted
      ? `${provider} did not answer within ${LIMITS.totalMs / 1000} s`
      : `${provider} could not be reached, or broke its answer off`;
    throw new ToolError(`The search failed: ${why}. Try again later, or go on without it.`, { cause: error });
  } finally {
    await client.close();
  }
}

/** `path` below the base address, whether or not that ends with a slash. */
export function endpoint(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}

function parse(bytes: Buffer, provider: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new ToolError(
      `The search failed: ${provider} answered with something that is not JSON. The operator must check tools.web_search.`,
      { cause: error },
    );
  }
}
