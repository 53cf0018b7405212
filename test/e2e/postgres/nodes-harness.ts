/** Nodes in this process on one database, with an agent on a scripted model. */
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { tempFolder } from '../../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type NodeWire, startNodeWire } from '../../support/node-wire.js';
import { ScriptedAgentModel } from '../../support/scripted-agent-model.js';
import { startUpstream } from '../../support/scripted-upstream.js';

export const SECRET = 'secret-of-the-nodes';
export const KEYS = { storm: 'key-of-storm', calm: 'key-of-calm' } as const;

export interface TestNode {
  name: string;
  gateway: TestGateway;
  wire: NodeWire;
}

export interface NodeBed {
  a: TestNode;
  b: TestNode;
  model: ScriptedAgentModel;
  /** Where the agent works. */
  work: string;
  /** The lines of a file in the agent's folder. */
  linesOf(name: string): Promise<string[]>;
}

/** `shares`: the folder of the agent is in `cluster.workspaces` of both. */
export async function startNodes(
  store: string,
  {
    shares = false,
    permissions = { mode: 'allow' },
    drain,
  }: { shares?: boolean; permissions?: object; drain?: number } = {},
): Promise<NodeBed> {
  const model = new ScriptedAgentModel();
  const upstream = await startUpstream((request, index) => model.script(request, index));
  const { path } = await tempFolder('toolgate-nodes');
  const work = join(await realpath(path), 'work');
  await mkdir(work);
  const node = async (name: string): Promise<TestNode> => {
    const wire = await startNodeWire();
    const gateway = await startTestGateway({
      config: {
        server: {
          ...(drain !== undefined && { drain_s: drain }),
          keys: Object.entries(KEYS).map(([key, value]) => ({
            ...{ name: key, key: value, scopes: ['call', 'approve', ...(key === 'storm' ? ['admin'] : [])] },
          })),
        },
        upstreams: { scripted: upstream.config('anthropic-messages') },
        models: {
          agent: { engine: 'native', upstream: 'scripted', model: 'm', cwd: work, tools: ['Bash'] },
        },
        ...{ permissions, sandbox: 'off', store },
        cluster: { node: name, advertise: wire.url, secret: SECRET, workspaces: shares ? [work] : [] },
      },
    });
    wire.leadTo(Number(new URL(gateway.url).port));
    return { name, gateway, wire };
  };
  const [a, b] = [await node('a'), await node('b')];
  const linesOf = async (name: string) =>
    (await readFile(join(work, name), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return { a, b, model, work, linesOf };
}

interface Asked {
  key?: keyof typeof KEYS;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  stream?: boolean;
}

export interface Told {
  status: number;
  headers: Headers;
  text: string;
}

/** One request of the Messages API. Resolves with the whole answer, or at its head with `begin`. */
export async function begin(
  { gateway }: TestNode,
  messages: readonly object[],
  { key = 'storm', headers, signal, stream = true }: Asked = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      ...{ model: 'agent', max_tokens: 999, stream, messages },
      tools: [{ name: 'lookup', description: 'Looks it up.', input_schema: { type: 'object' } }],
    }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export async function ask(...given: Parameters<typeof begin>): Promise<Told> {
  return whole(await begin(...given));
}

export async function whole(answer: Response): Promise<Told> {
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

export async function api(
  { gateway }: TestNode,
  method: string,
  path: string,
  {
    body,
    key = 'storm',
    headers,
  }: { body?: object; key?: keyof typeof KEYS; headers?: Record<string, string> } = {},
): Promise<Told> {
  const answer = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return whole(answer);
}

export const user = (content: string) => ({ role: 'user', content });
export const said = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] });

/** The text of a streamed answer. */
export const textIn = (stream: string): string =>
  [...stream.matchAll(/"type":"text_delta","text":("(?:[^"\\]|\\.)*")/g)]
    .map(([, text = '""']) => String(JSON.parse(text)))
    .join('');
