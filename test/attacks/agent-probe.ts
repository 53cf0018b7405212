/** The whole gateway with the native agent, and calls as a model that was led astray would make them. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { startGatewayProcess, startTestGateway, type TestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';

export interface AgentOptions {
  permissions?: object;
  sandbox?: 'auto' | 'required' | 'off';
  /** Of the workspace, before the gateway starts. */
  files?: Readonly<Record<string, string>>;
  /** Of the model entry. */
  model?: object;
  /** Of the configuration. */
  rest?: object;
  /** The key of the client that asks. */
  key?: string;
  /** Not below /tmp, of which commands in the sandbox have one of their own. */
  visible?: boolean;
  /** Of a gateway that is a process of its own; without, it runs in this one. */
  env?: Readonly<Record<string, string>>;
}

/** A tool and its input. */
export type Attempt = readonly [tool: string, input: Record<string, unknown>];

export interface Outcome {
  text: string;
  isError: boolean;
}

export interface AgentProbe {
  root: string;
  /** Beside the workspace. */
  outside: string;
  /** Where the gateway's configuration and store are. */
  folder: string;
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  /** One answer of the model for each, in one conversation of its own. */
  run(...attempts: readonly Attempt[]): Promise<Outcome[]>;
  /** A request of a client, as it is. The model says what `attempts` says, then "Done.". */
  post(body: object, attempts?: readonly Attempt[], headers?: Record<string, string>): Promise<Response>;
  /** What the model was told of its calls in its newest request. */
  told(): Outcome[];
  /** As the console asks, or with a key. */
  api(method: string, path: string, body?: object, key?: string): Promise<Reply>;
  /** The call that waits for a person, once there is one; with `all`, the newest that ever did. */
  waiting(key?: string, state?: 'pending' | 'all'): Promise<Waiting>;
  decide(asked: Waiting, decision: 'allow' | 'deny'): Promise<void>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export interface Waiting {
  id: string;
  digest: string;
  tool: string;
}

export const MODEL = 'coder';
/** In the configuration, and in no answer. */
export const UPSTREAM_KEY = 'sk-upstream-0f9e8d7c6b5a';

const requestSchema = z.object({
  messages: z.array(
    z.object({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) }),
  ),
});
const waitingSchema = z.object({
  data: z.array(z.object({ id: z.string(), digest: z.string(), tool: z.string() })),
});
const resultSchema = z.object({
  type: z.literal('tool_result'),
  content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
  is_error: z.boolean().optional(),
});

export async function openAgent(options: AgentOptions = {}): Promise<AgentProbe> {
  const base = await realpath(await (options.visible === true ? visibleFolder() : hiddenFolder()));
  const [root, outside, folder] = [join(base, 'work'), join(base, 'outside'), join(base, 'gateway')];
  for (const path of [root, outside, folder]) await mkdir(path);
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const queue: Attempt[] = [];
  let calls = 0;
  const upstream = await startUpstream((request, index) => {
    const next = queue.shift();
    if (next === undefined) return inDialect(textAnswer('Done.'))(request, index);
    calls += 1;
    return inDialect(callsAnswer(call(...next, `toolu_${calls}`)))(request, index);
  });
  const config = {
    upstreams: { scripted: { ...upstream.config('anthropic-messages'), api_key: UPSTREAM_KEY } },
    models: {
      [MODEL]: {
        engine: 'native',
        upstream: 'scripted',
        model: 'm',
        cwd: root,
        max_turns: 30,
        ...options.model,
      },
    },
    permissions: { mode: 'allow', ...options.permissions },
    sandbox: options.sandbox ?? 'off',
    ...options.rest,
  };
  const { env } = options;
  const gateway: TestGateway =
    env === undefined
      ? await startTestGateway({ folder, config })
      : await startGatewayProcess({ folder, config, env });
  const post: AgentProbe['post'] = async (body, attempts = [], headers = {}) => {
    queue.push(...attempts);
    return fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': options.key ?? 'client', ...headers },
      body: JSON.stringify({ model: MODEL, max_tokens: 1000, ...body }),
    });
  };
  const token = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  const api: AgentProbe['api'] = async (method, path, body, key = token) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const waiting: AgentProbe['waiting'] = (key, state = 'pending') =>
    until(async () => {
      const { text } = await api('GET', `/api/approvals?state=${state}`, undefined, key);
      return waitingSchema.parse(JSON.parse(text)).data[0];
    });
  const told = (): Outcome[] => outcomesIn(upstream.requests.at(-1)?.json);
  return {
    root,
    outside,
    folder,
    gateway,
    upstream,
    post,
    told,
    api,
    waiting,
    async decide({ id, digest }, decision) {
      const { status, text } = await api('POST', `/api/approvals/${id}`, { decision, digest });
      if (status !== 200) throw new Error(`${status} ${text}`);
    },
    async run(...attempts) {
      const response = await post({ messages: [{ role: 'user', content: 'Go on.' }] }, attempts);
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}`);
      return told();
    },
  };
}

const hiddenFolder = async (): Promise<string> => (await tempFolder('toolgate-attack')).path;

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

async function visibleFolder(): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const path = await mkdtemp(join(CACHE, 'toolgate-attack-'));
  closeAfterTest(() => rm(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

function outcomesIn(body: unknown): Outcome[] {
  return requestSchema.parse(body).messages.flatMap(({ content }) =>
    (typeof content === 'string' ? [] : content).flatMap((block) => {
      const result = resultSchema.safeParse(block);
      return result.success ? [outcomeOf(result.data)] : [];
    }),
  );
}

function outcomeOf({ content = '', is_error }: z.infer<typeof resultSchema>): Outcome {
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
  return { text, isError: is_error === true };
}
