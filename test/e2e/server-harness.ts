/** The HTTP server alone, on a free port, in front of engines that a test writes inline. */

import { parseConfig } from '../../src/config/parse.js';
import { GatewayError } from '../../src/core/errors.js';
import type { ModelEvent } from '../../src/core/events.js';
import type { Answer, Dispatcher, ModelInfo, ModelRequest } from '../../src/engines/engine.js';
import { createModelCatalogue } from '../../src/engines/model-catalogue.js';
import type { McpClient } from '../../src/mcp/client/mcp-client.js';
import type { VirtualMcp } from '../../src/mcp/virtual/virtual-mcp.js';
import { PushSubscriptions } from '../../src/notify/delivery/push-subscriptions.js';
import type { Log } from '../../src/observability/log.js';
import type { ApprovalCoordinator } from '../../src/permissions/approvals.js';
import { type KeyOptions, KeyRing } from '../../src/server/access/key-ring.js';
import { UpstreamAdministration } from '../../src/server/console-api/upstream-administration.js';
import { GatewayServer, type GatewayServerOptions } from '../../src/server/gateway-server.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/server/http/limits.js';
import type { NewTrace } from '../../src/store/traces.js';
import type { UsageRecord } from '../../src/store/usage.js';
import { closeAfterTest } from '../support/cleanup.js';
import { deferred } from '../support/gate.js';
import { memorySignIns } from '../support/memory-sign-ins.js';
import { requestBytes } from '../support/raw-http.js';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  message: string;
  facts: Readonly<Record<string, unknown>>;
}

export interface TestServer {
  url: string;
  /** Empty where there are keys. */
  token: string;
  server: GatewayServer;
  lines: LogLine[];
  traces: NewTrace[];
  usage: UsageRecord[];
  /** The calls that engines got. */
  calls: ModelRequest[];
  /** Resolves with the log line of the next request that ends, or of one that has ended unasked. */
  nextRequest(): Promise<LogLine['facts']>;
}

export type ServerOptions = Partial<
  Pick<
    GatewayServerOptions,
    | 'host'
    | 'publicHosts'
    | 'consoleDir'
    | 'approvals'
    | 'permissions'
    | 'mcp'
    | 'tools'
    | 'about'
    | 'sessions'
  >
> & {
  keys?: readonly KeyOptions[];
  /** Parts of the store that are real. */
  parts?: Partial<
    Pick<GatewayServerOptions['store'], 'answers' | 'leases' | 'rules' | 'runs' | 'sessions' | 'signIns'>
  >;
  loopback?: boolean;
  run?: (call: ModelRequest) => Promise<Answer>;
  countTokens?: (call: ModelRequest) => Promise<number>;
  models?: readonly ModelInfo[];
  limits?: Partial<Limits>;
  storeProbe?: () => Promise<never>;
};

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const {
    limits,
    run = sayHello,
    countTokens = async () => 42,
    models = MODELS,
    parts,
    keys = [],
    ...rest
  } = options;
  const lines: LogLine[] = [];
  const requests: LogLine['facts'][] = [];
  let onRequest: () => void = () => {};
  const write =
    (level: LogLine['level']) =>
    (facts: object, message: string): void => {
      const line = { level, message, facts: { ...facts } };
      lines.push(line);
      if (message !== 'request') return;
      requests.push(line.facts);
      onRequest();
    };
  const log: Log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
  };
  const calls: ModelRequest[] = [];
  const traces: NewTrace[] = [];
  const usage: UsageRecord[] = [];
  const dispatcher: Dispatcher = {
    run(call) {
      calls.push({ ...call });
      return run(call);
    },
    countTokens(call) {
      calls.push({ ...call });
      return countTokens(call);
    },
    models: async () => models,
  };
  const server = await GatewayServer.listen({
    host: '127.0.0.1',
    port: 0,
    loopback: true,
    publicHosts: [],
    keys: new KeyRing({ keys }),
    limits: { ...DEFAULT_LIMITS, ...limits },
    recordBodies: false,
    consoleDir: '/nonexistent',
    approvals: NO_APPROVALS,
    mcp: NO_MCP,
    tools: NO_TOOLS,
    previews: { preview: () => Promise.reject(new Error('no rules are tried here')) },
    about: ABOUT,
    virtualMcp: NO_VIRTUAL_MCP,
    findWorkspace: () => ({ root: '/nonexistent', selection: 'none' }),
    sessions: NO_SESSIONS,
    chat: NO_CHAT,
    queue: NO_QUEUE,
    notifier: NO_NOTIFIER,
    models: createModelCatalogue({ models: {}, upstreams: {}, baseDir: '/', startDir: '/' }),
    reload: async () => ({ file: null, changed: [], restart: [] }),
    upstreams: noUpstreams(),
    permissions: { mode: 'ask', allow: [], ask: [], deny: [] },
    ...rest,
    dispatcher,
    log,
    store: {
      answers: {
        get: async () => undefined,
        put: async () => ({ recorded: true }),
        extend: async () => false,
        delete: async () => false,
      },
      leases: NO_LEASES,
      signIns: memorySignIns(),
      probe: options.storeProbe ?? (async () => {}),
      figures: async () => ({
        sessions: { live: 0, parked: 0, hibernated: 0 },
        approvalsWaiting: 0,
        leases: 0,
      }),
      info: async () => ({ kind: 'sqlite', location: ':memory:', schemaVersion: 1, sizeBytes: 0 }),
      traces: {
        record: (trace) => void traces.push(trace),
        list: async () => ({ items: [] }),
        get: async () => undefined,
      },
      usage: { record: (row) => void usage.push(row), summarise: async () => [] },
      rules: { list: async () => [] },
      sessions: { get: async () => undefined },
      approvals: { waiting: async () => new Map() },
      runs: NO_RUNS,
      keys: NO_KEYS,
      ...parts,
    },
  });
  closeAfterTest(() => server.close());
  return {
    url: `http://127.0.0.1:${server.port}`,
    token: server.consoleToken ?? '',
    server,
    lines,
    traces,
    usage,
    calls,
    async nextRequest() {
      for (;;) {
        const line = requests.shift();
        if (line !== undefined) return line;
        const next = deferred();
        onRequest = next.resolve;
        await next.promise;
      }
    },
  };
}

/** Of a gateway that tells nobody outside anything. */
const NO_NOTIFIER: GatewayServerOptions['notifier'] = {
  status: async () => [],
  test: () => Promise.reject(new Error('there is no target')),
  answer: () => Promise.reject(new Error('there is no target')),
  push: new PushSubscriptions({
    store: {
      push: {
        put: async () => {},
        get: async () => undefined,
        list: async () => [],
        remove: async () => false,
      },
      secrets: { ensure: async (_name, value) => value },
    },
    scopesOf: () => undefined,
    credentialOf: () => undefined,
  }),
  subscribe: () => Promise.reject(new Error('there is no browser')),
  answerPush: () => Promise.reject(new Error('there is no browser')),
};

const NO_KEYS: GatewayServerOptions['store']['keys'] = {
  add: async () => undefined,
  list: async () => [],
  rotate: async () => undefined,
  revoke: async () => undefined,
  revision: async () => 0,
};

const NO_RUNS: GatewayServerOptions['store']['runs'] = {
  create: async () => true,
  get: async () => undefined,
  attach: async () => true,
  ofSession: async () => undefined,
  ofSessions: async () => new Map(),
  running: async () => [],
  claim: async () => undefined,
  interrupt: async () => false,
  release: async () => 0,
  delete: async () => true,
  deleteOthers: async () => 0,
};

/** Of a gateway without tools. */
export const NO_TOOLS: GatewayServerOptions['tools'] = {
  list: async () => [],
  examine: () => Promise.reject(new Error('nothing is examined here')),
};

export const ABOUT: GatewayServerOptions['about'] = {
  version: '0.0.0-test',
  startedAt: Date.now(),
  upstreams: [],
  models: 0,
  agents: [],
  sandbox: () => ({ active: false, reason: 'off', detail: 'Off.', advice: 'Turn it on.' }),
  approvals: { timeoutS: 1800, unattended: 'deny' },
  traces: { bodies: false, maxAgeS: 3600, maxMb: 1 },
};

/** Of a gateway that has never asked anyone anything. */
const NO_APPROVALS: ApprovalCoordinator = {
  isAnswered: async () => false,
  ask: () => Promise.reject(new Error('nothing is asked here')),
  list: async () => ({ items: [] }),
  get: async () => undefined,
  decide: async () => ({ outcome: 'unknown' }),
  extend: async () => ({ outcome: 'unknown' }),
  cancelAbandoned: async () => {},
  modeChanged: async () => {},
  addRule: () => Promise.reject(new Error('no rules are made here')),
  revokeRule: async () => undefined,
  attend: () => () => {},
  seen: () => {},
  subscribe: () => () => {},
  onRule: () => () => {},
  usedUp: () => {},
  expireDue: async () => {},
  follow: async () => {},
  refresh: async () => {},
  close: async () => {},
};

/** Of a gateway that no agent has worked on. */
const NO_SESSIONS: GatewayServerOptions['sessions'] = {
  list: async () => ({ items: [] }),
  count: async () => 0,
  get: async () => undefined,
  read: async () => undefined,
  fork: async () => undefined,
  delete: async () => false,
  running: async () => [],
  standing: () => undefined,
  label: async () => undefined,
  stop: async () => false,
  elsewhere: async () => undefined,
  delivered: () => {},
};

const NO_CHAT: GatewayServerOptions['chat'] = {
  start: () => Promise.reject(new Error('nothing is said here')),
  resume: () => Promise.reject(new Error('nothing has broken off here')),
};

const NO_QUEUE: GatewayServerOptions['queue'] = {
  say: () => Promise.reject(new Error('nothing is said here')),
  list: () => [],
  withdraw: async () => [],
};

/** Of a process that is alone. */
const NO_LEASES: GatewayServerOptions['store']['leases'] = {
  acquire: async (name, owner, ttlMs) => ({
    granted: true,
    lease: { name, owner, token: 1, until: Date.now() + ttlMs },
  }),
  renew: async () => [],
  release: async () => true,
  holders: async () => new Map(),
  heldSessions: async () => new Map(),
  releaseAll: async () => 0,
};

/** Nobody has opened a session. */
const NO_VIRTUAL_MCP: VirtualMcp = {
  handle: () => Promise.reject(new GatewayError('not_found', 'There is no such MCP session.')),
  toolsChanged() {},
  drain() {},
  close: async () => {},
};

/** Of a gateway without MCP servers. */
const NO_MCP: McpClient = {
  tools: () => [],
  directory: async () => [],
  status: () => [],
  settled: async () => {},
  add: () => Promise.reject(new Error('no server is added here')),
  configure: async () => {},
  remove: async () => false,
  clientDocument: () => undefined,
  refresh: async () => {},
  reconnect: () => Promise.reject(new Error('there is no server')),
  finishSignIn: () => Promise.reject(new Error('there is no server')),
  onChange: () => () => {},
  closeSession: async () => {},
  close: async () => {},
};

export const MODELS: readonly ModelInfo[] = [
  { id: 'gpt-5', displayName: 'GPT-5', created: 1_700_000_000, ownedBy: 'openai' },
  {
    id: 'claude-x',
    displayName: 'Claude X',
    created: 1_700_000_001,
    ownedBy: 'claude',
    contextWindow: 200_000,
  },
  { id: 'org/local', displayName: 'Local', created: 1_700_000_002, ownedBy: 'local' },
];

export const HELLO: readonly (readonly ModelEvent[])[] = [
  [
    { type: 'start', usage: { inputTokens: 5 } },
    { type: 'text', text: 'hel' },
  ],
  [{ type: 'text', text: 'lo' }],
  [
    { type: 'usage', usage: { outputTokens: 2 } },
    { type: 'stop', reason: 'end_turn' },
  ],
];

const sayHello = async (): Promise<Answer> => answerOf(HELLO);

/** An answer of events. */
export function answerOf(
  batches: Iterable<readonly ModelEvent[]> | AsyncIterable<readonly ModelEvent[]>,
  extra: Partial<Omit<Answer, 'body'>> = {},
): Answer {
  return {
    upstream: 'fake',
    losses: [],
    headers: {},
    ...extra,
    body: { kind: 'events', batches: toAsync(batches) },
  };
}

async function* toAsync<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* items;
}

export interface ChatBody {
  [field: string]: unknown;
}

export const MESSAGES: ChatBody = {
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
};
export const CHAT: ChatBody = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

export const JSON_HEADERS = { 'content-type': 'application/json' } as const;

/** The bytes of a POST of a turn, in Anthropic's dialect unless the path is another. */
export function turnBytes(
  url: string,
  fields: ChatBody = {},
  path = '/v1/messages',
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const base = path.startsWith('/v1/messages') ? MESSAGES : CHAT;
  return requestBytes(url, {
    path,
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify({ ...base, ...fields }),
  });
}

/** None can be stored, and nothing changes what holds. */
function noUpstreams(): UpstreamAdministration {
  return new UpstreamAdministration({
    store: { add: async () => undefined, list: async () => [], remove: async () => undefined },
    box: { obstacle: undefined, seal: async (secret) => secret },
    states: {
      base: { config: parseConfig({}, { env: {} }).config, origin: 'given' },
      problemOf: () => undefined,
    },
    env: {},
    localServers: [],
    refresh: async () => {},
  });
}
