/** A gateway before a provider that keeps files, batches and skills for its one account, with keys of several tenants. */
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { json, type Reply } from '../support/replies.js';
import { type RecordedRequest, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { openaiClient } from '../support/sdk.js';
import { isRecord } from '../support/violation.js';

/** A provider that keeps files and batches for its one account. */
export class Account {
  readonly #files = new Map<string, { id: string; [field: string]: unknown }>();

  readonly answer = (request: RecordedRequest): Reply => {
    const { method } = request;
    const [path = ''] = request.path.replace(/^\/v1/, '').split('?');
    const [, kind = '', id = '', rest = ''] =
      /^\/(messages\/batches|[a-z]+)(?:\/([^/]+))?(?:\/(.*))?$/.exec(path) ?? [];
    if (kind === 'embeddings')
      return json({
        object: 'list',
        model: 'up',
        data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
        usage: { prompt_tokens: 40, total_tokens: 40 },
      });
    if (path === '/audio/transcriptions') return json({ text: 'Hello.' });
    if (path === '/audio/speech')
      return {
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'audio/mpeg' },
        body: [Buffer.from([1, 2, 255])],
      };
    if (path === '/moderations') return json({ id: 'modr-1', model: 'omni', results: [{ flagged: false }] });
    if (path === '/away')
      return { kind: 'answer', status: 302, headers: { location: 'http://127.0.0.1:9/x' }, body: [] };
    if (path === '/page')
      return {
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: ['<script>1</script>'],
      };
    if (kind === 'files' || kind === 'batches' || kind === 'messages/batches') {
      if (method === 'POST' && id === '') {
        const made = `${kind.replace('messages/', 'msg')}-${this.#files.size + 1}`;
        const row = {
          id: made,
          object: kind,
          usage: { input_tokens: 70, output_tokens: 7, total_tokens: 77 },
          output_file_id: kind === 'batches' ? `files-out-${made}` : null,
        };
        this.#files.set(made, row);
        if (kind === 'batches')
          this.#files.set(`files-out-${made}`, { id: `files-out-${made}`, object: 'files' });
        return json(row);
      }
      if (id === '') return json(this.#page(new URL(request.path, 'http://x').searchParams));
      const row = this.#files.get(id);
      if (row === undefined) return json({ error: { message: 'No such thing.' } }, { status: 404 });
      if (method === 'DELETE') this.#files.delete(id);
      return rest === 'content'
        ? json({ content: id })
        : json(method === 'DELETE' ? { id, deleted: true } : row);
    }
    if (path === '/images/edits') return json({ data: [] });
    return json(
      { error: { message: `Nobody has ${path}; the key upstream-secret is fine.` } },
      { status: 404 },
    );
  };

  /** As both providers do: behind or before an id, so many at once, with the ids at both ends. */
  #page(query: URLSearchParams): object {
    const all = [...this.#files.values()];
    const behind = query.get('after') ?? query.get('after_id');
    const before = query.get('before_id');
    const limit = Number(query.get('limit') ?? '2');
    const start = all.findIndex(({ id }) => id === behind) + 1;
    const end = before === null ? all.length : all.findIndex(({ id }) => id === before);
    const data = before === null ? all.slice(start, start + limit) : all.slice(Math.max(0, end - limit), end);
    const hasMore = before === null ? start + limit < all.length : end - limit > 0;
    const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
    return { object: 'list', data, first_id: first, last_id: last, has_more: hasMore, total: all.length };
  }
}

export interface World {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
}

export const KEYS = [
  { key: 'k-alice', name: 'alice' },
  { key: 'k-bob', name: 'bob' },
  { key: 'k-some', name: 'some', models: ['embed-*'] },
  { key: 'k-poor', name: 'poor', budget: { usd: 1, per: 'month' } },
  { key: 'k-admin', name: 'admin', scopes: ['call', 'admin'] },
  { key: 'k-root', name: 'root', scopes: ['call', 'admin'] },
];

export function configOf(upstream: ScriptedUpstream, passThrough: boolean): object {
  const pass = { pass_through: passThrough };
  return {
    server: { keys: KEYS },
    upstreams: {
      openai: { ...upstream.config('openai-chat'), ...pass },
      answers: { ...upstream.config('openai-responses'), ...pass },
      claude: { ...upstream.config('anthropic-messages'), ...pass },
    },
    models: {
      // A hundredth of a dollar a token.
      'embed-*': { upstream: 'openai', model: 'up-embed', price: { input: 10_000, output: 0 } },
      'gpt-*': { upstream: 'openai' },
      'gpt-answers': { upstream: 'answers' },
      'claude-*': { upstream: 'claude' },
      helper: { engine: 'native', upstream: 'openai' },
    },
  };
}

export async function open(
  passThrough = true,
  before?: World,
  answer: (request: RecordedRequest) => Reply = new Account().answer,
): Promise<World> {
  const upstream = before?.upstream ?? (await startUpstream(answer));
  const gateway = await startTestGateway({
    ...(before === undefined ? {} : { folder: before.gateway.folder }),
    config: configOf(upstream, passThrough),
  });
  return { gateway, upstream };
}

export const openai = ({ url }: TestGateway, who: string) => openaiClient(url, { apiKey: `k-${who}` });

export const ask = (
  { url }: TestGateway,
  who: string,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer k-${who}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** What a file is called that the key uploads. */
export async function upload(
  gateway: TestGateway,
  who: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const made: unknown = await (await ask(gateway, who, 'POST', '/v1/files', {}, headers)).json();
  return isRecord(made) ? String(made['id']) : '';
}
