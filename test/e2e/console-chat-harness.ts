/** A gateway with plain models and an agent on one scripted model, and a console that talks to it. */
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  ChatRequest,
  ChatStarted,
  SessionContentWire,
  SessionWire,
} from '../../src/server/console-api/wire/sessions.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import {
  type RecordedRequest,
  type Reply,
  type ScriptedUpstream,
  startUpstream,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import type { Scripted } from '../support/wire.js';

/** What the model says next, whoever asks. */
export type Step =
  | Scripted
  | Reply
  | ((request: RecordedRequest) => Scripted | Reply | Promise<Scripted | Reply>);

export const KEYS = [
  { key: 'secret-of-alice', name: 'alice', scopes: ['call', 'approve'] },
  { key: 'secret-of-bob', name: 'bob', scopes: ['call'], models: ['plain'] },
  { key: 'secret-of-root', name: 'root', scopes: ['call', 'approve', 'admin'] },
];
export type Who = 'alice' | 'bob' | 'root';

export interface Answer<T> {
  status: number;
  body: T & { error?: { message: string; param: string | null; code: string | null } };
}

/** A person at the console. */
export class Person {
  readonly #gateway: () => Pick<TestGateway, 'url'>;
  readonly #key: string;

  constructor(gateway: () => Pick<TestGateway, 'url'>, key: string) {
    this.#gateway = gateway;
    this.#key = key;
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await this.fetch(method, path, body);
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text === '' ? '{}' : text) };
  }

  fetch(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.#gateway().url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  chat(body: Partial<ChatRequest>): Promise<Answer<ChatStarted>> {
    return this.call('POST', '/api/chat', { model: 'plain', ...body });
  }

  /** Says it and waits for the end of the turn. */
  async say(body: Partial<ChatRequest>): Promise<ChatStarted> {
    const { status, body: started } = await this.chat(body);
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(started)}`);
    await this.over(started.session);
    return started;
  }

  session(id: string, query = ''): Promise<Answer<SessionContentWire>> {
    return this.call('GET', `/api/sessions/${id}${query}`);
  }

  /** Resolves when no turn of the session runs. Each look is a request of its own. */
  async over(id: string): Promise<SessionContentWire> {
    return until(async () => {
      const { status, body } = await this.session(id);
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return !body.running && body;
    });
  }

  /** What was said, as role and text. */
  async texts(id: string): Promise<string[]> {
    return textsOf((await this.session(id)).body);
  }

  async sessions(): Promise<SessionWire[]> {
    return (await this.call<{ data: SessionWire[] }>('GET', '/api/sessions')).body.data;
  }

  /** The question that waits, once there is one. */
  async question(): Promise<{ id: string; digest: string; session: string }> {
    return until(async () => {
      const { body } = await this.call<{ data: { id: string; digest: string; session: string }[] }>(
        'GET',
        '/api/approvals?state=pending',
      );
      return body.data[0];
    });
  }

  async allow({ id, digest }: { id: string; digest: string }): Promise<number> {
    return (await this.call('POST', `/api/approvals/${id}`, { decision: 'allow', digest })).status;
  }
}

export function textsOf({ messages }: Pick<SessionContentWire, 'messages'>): string[] {
  return messages.flatMap(({ role, content }) =>
    content.flatMap((block) => (block.type === 'text' ? [`${role}: ${block.text}`] : [])),
  );
}

export interface ChatWorld {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  /** Of the agent; with the folders `inner` and `.hidden`. */
  root: string;
  steps: Step[];
  person(who: Who): Person;
  /** What the model was told in its n-th call: role and content of each message. */
  told(index: number): { role: string; content: unknown }[];
  restart(): Promise<void>;
}

export interface WorldOptions {
  /** Of the agent's entry. */
  agent?: object;
  rest?: object;
}

export async function openChatWorld({ agent, rest }: WorldOptions = {}): Promise<ChatWorld> {
  const { path } = await tempFolder('toolgate-chat');
  const root = join(await realpath(path), 'work');
  await mkdir(join(root, 'inner', 'deep'), { recursive: true });
  await mkdir(join(root, '.hidden'));
  const steps: Step[] = [];
  const upstream = await startUpstream(async (request, index) => {
    const step = steps.shift();
    if (step === undefined) throw new Error(`Nothing is scripted for ${request.text.slice(-300)}`);
    const said = typeof step === 'function' ? await step(request) : step;
    return 'kind' in said ? said : inDialect(said)(request, index);
  });
  const config = {
    server: { keys: KEYS },
    upstreams: { scripted: upstream.config('anthropic-messages') },
    models: {
      plain: { upstream: 'scripted', model: 'm', price: { input: 1, output: 1 } },
      'other-*': { upstream: 'scripted', model: 'm' },
      coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: root, ...agent },
      second: { engine: 'native', upstream: 'scripted', model: 'm', cwd: root, ...agent },
    },
    permissions: { mode: 'allow' },
    sandbox: 'off',
    ...rest,
  };
  let gateway = await startTestGateway({ config });
  return {
    get gateway() {
      return gateway;
    },
    upstream,
    root,
    steps,
    person: (who) => new Person(() => gateway, `secret-of-${who}`),
    told(index) {
      const { messages } = upstream.requests[index]?.json ?? {};
      return Array.isArray(messages) ? messages : [];
    },
    async restart() {
      await gateway.close();
      gateway = await startTestGateway({ config, folder: gateway.folder });
    },
  };
}

type ToldEvent = Record<string, unknown>;

export interface Watched {
  /** All so far. */
  readonly events: readonly ToldEvent[];
  /** The first that is like this, once it is there. */
  until(isIt: (event: ToldEvent) => boolean): Promise<ToldEvent>;
  close(): void;
}

/** Reads `/api/events`; resolves when the stream has begun. */
export async function watch(person: Person): Promise<Watched> {
  const leave = new AbortController();
  const response = await person.fetch('GET', '/api/events', undefined, leave.signal);
  const events: ToldEvent[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const more = async (): Promise<void> => {
    const { value = '', done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`The events ended before what was waited for: ${JSON.stringify(events)}`);
    text += value;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) events.push(JSON.parse(data));
    }
  };
  while (events.length === 0) await more();
  return {
    events,
    async until(isIt) {
      for (;;) {
        const found = events.find(isIt);
        if (found !== undefined) return found;
        await more();
      }
    },
    close: () => leave.abort(),
  };
}
