/** One server: its shared connection, those kept for sessions, its sign-in and its tools. */
import { isDeepStrictEqual } from 'node:util';
import { createRedactor, maskUrl } from '../../config/redact.js';
import type { McpServerConfig } from '../../config/schema.js';
import { GatewayError } from '../../core/errors.js';
import { untilAborted } from '../../core/stopping.js';
import { pinnedLookup } from '../../transport/guarded-fetch/address-policy.js';
import { HostCheck } from '../../transport/guarded-fetch/host-check.js';
import { HttpClient } from '../../transport/http-client/http-client.js';
import { type KnownEra, McpConnection } from './connection.js';
import { directoryTools, listDirectory } from './directory.js';
import type { ListedMcpTool } from './list-tools.js';
import type {
  McpDirectory,
  McpServerStatus,
  McpTool,
  McpToolCallOptions,
  McpToolCallResult,
} from './mcp-client.js';
import { publicAddresses } from './oauth/client-document.js';
import { ServerSignIn, type SignInAnswer } from './oauth/sign-in.js';
import type { TokenFile } from './oauth/token-file.js';
import { hasCredential, openWire } from './open-wire.js';
import { type McpOperation, toolCall } from './operations.js';
import { type LinkState, ServerLink } from './server-link.js';
import { createBoundedFetch } from './wire/bounded-fetch.js';
import type { McpLimits } from './wire/limits.js';
import type { McpLog } from './wire/log.js';
import { loadSdk } from './wire/sdk.js';

export interface EntryContext {
  version: string;
  limits: McpLimits;
  log: McpLog;
  environment: Readonly<Record<string, string | undefined>>;
  baseDir: string;
  retries: boolean;
  now(): number;
  random(): number;
  http(): HttpClient;
  tokens: TokenFile;
  callbackUrl?: (name: string) => string | Promise<string>;
  publicUrl?: (() => string | undefined) | undefined;
  /** The tools of a server have come, gone or changed. */
  onTools(): void;
  /** A server or its tools have changed. */
  onChange(name: string): void;
}

interface EntryOptions {
  name: string;
  config: McpServerConfig;
  persistent: boolean;
}

export class ServerEntry {
  readonly #options: EntryOptions;
  readonly #context: EntryContext;
  readonly #redact: (text: string) => string;
  /** For every session where it is shared; otherwise it only lists the tools. */
  readonly #link: ServerLink;
  readonly #sessions = new Map<string, ServerLink>();
  #tools: readonly McpTool[] = [];
  readonly #known: KnownEra = { endsWhenAsked: false, patience: 1 };
  #signIn: ServerSignIn | undefined;
  #signingIn: Promise<ServerSignIn | undefined> | undefined;
  #closed = false;

  constructor(options: EntryOptions, context: EntryContext) {
    this.#options = options;
    this.#context = context;
    this.#redact = createRedactor(secretsOf(options.config));
    const tell = (): void => context.onChange(options.name);
    this.#link = this.#makeLink(
      context.retries,
      () => {
        this.#tools = this.#toolsOf(this.#link.connection);
        context.onTools();
        tell();
      },
      tell,
    );
  }

  /** Whether the configuration has it, and as it is. */
  is(config: McpServerConfig): boolean {
    return this.#options.persistent && this.isWith(config);
  }

  isWith(config: McpServerConfig): boolean {
    return isDeepStrictEqual(this.#options.config, config);
  }

  get isConfigured(): boolean {
    return this.#options.persistent;
  }

  connect(): Promise<void> {
    return this.#link.connect();
  }

  settled(): Promise<void> {
    return this.#link.settled();
  }

  tools(session: string | undefined): readonly McpTool[] {
    const own = session === undefined ? undefined : this.#sessions.get(session)?.connection;
    return own === undefined ? this.#tools : this.#toolsOf(own);
  }

  /** Undefined where it is not connected, or has neither resources nor prompts. */
  async directory(signal: AbortSignal): Promise<McpDirectory | undefined> {
    const { connection } = this.#link;
    if (connection === undefined || !(connection.offers.resources || connection.offers.prompts))
      return undefined;
    return listDirectory(this.#options.name, connection, signal);
  }

  /** Those of the server, and ours for its resources and prompts where it has no tool of that name. */
  #toolsOf(connection: McpConnection | undefined): McpTool[] {
    if (connection === undefined) return [];
    const own = connection.listing.tools.map((tool) => this.#makeTool(tool));
    const { name } = this.#options;
    const more = directoryTools(
      {
        server: name,
        directory: async (signal) =>
          (await this.directory(signal)) ?? { server: name, resources: [], templates: [], prompts: [] },
        run: (operation, options) => this.#call(operation, options),
      },
      connection.offers,
    );
    return [...own, ...more.filter((each) => !own.some((tool) => tool.name === each.name))];
  }

  /** Also those of sessions, with the next call of each. */
  async reconnect(): Promise<void> {
    this.#known.endsWhenAsked = false;
    await this.#endSessions();
    await this.#link.reconnect();
  }

  async closeSession(session: string): Promise<void> {
    const link = this.#sessions.get(session);
    this.#sessions.delete(session);
    await link?.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#tools = [];
    await Promise.all([this.#link.close(), this.#endSessions()]);
  }

  status(): McpServerStatus {
    const { name, config, persistent } = this.#options;
    const { state, connection } = this.#link;
    const info = connection?.serverInfo;
    const signInUrl = state.kind === 'needs-auth' ? this.#signIn?.signInUrl : undefined;
    const problem = connection === undefined ? this.#problemOf(state) : connection.listing.problem;
    return {
      name,
      type: config.type,
      target: config.type === 'stdio' ? config.command : maskUrl(config.url),
      state: state.kind === 'idle' ? 'connecting' : state.kind,
      ...(problem === undefined ? {} : { problem }),
      ...(signInUrl === undefined ? {} : { signInUrl }),
      ...(state.kind === 'failed' && state.retryAt !== undefined ? { retryAt: state.retryAt } : {}),
      tools: this.#tools.map((tool) => tool.name),
      ...(info === undefined ? {} : { serverInfo: info }),
      ...(connection?.protocol === undefined ? {} : { protocol: connection.protocol }),
      ...(state.kind === 'connected' ? { connectedAt: state.at } : {}),
      shared: config.shared,
      persistent,
    };
  }

  async finishSignIn(answer: SignInAnswer): Promise<void> {
    const { config, name } = this.#options;
    const signIn = this.#signIn;
    if (signIn === undefined || config.type === 'stdio') {
      throw new GatewayError('forbidden', `No sign-in to the MCP server "${name}" is under way.`);
    }
    const { http, limits } = this.#context;
    const fetch = createBoundedFetch({
      client: http(),
      origin: new URL(config.url).origin,
      headers: config.headers,
      limits,
      ...this.#guard(),
      onStatus: () => {},
    });
    await signIn.finish(answer, fetch);
    await this.reconnect();
  }

  #problemOf(state: LinkState): string | undefined {
    if (state.kind === 'failed') return state.problem;
    if (state.kind !== 'needs-auth') return undefined;
    if (hasCredential(this.#options.config)) {
      return 'it refuses the credential (401); check the authorization in `headers`';
    }
    return this.#signIn?.signInUrl === undefined
      ? `it wants a credential (401) and no sign-in could be started; put a token into \`headers\` (${state.problem})`
      : 'it wants a sign-in (401); open the address of the sign-in in a browser';
  }

  #makeLink(retries: boolean, onListing: () => void, onState: () => void): ServerLink {
    const { name, config } = this.#options;
    const { limits, log, now, random, version, environment, baseDir, http } = this.#context;
    return new ServerLink({
      name,
      limits,
      log,
      now,
      random,
      retries,
      onListing,
      onState,
      open: (events, signal) =>
        McpConnection.open(
          {
            name,
            version,
            config,
            limits,
            log,
            redact: this.#redact,
            known: this.#known,
            openWire: (context, sdk) =>
              openWire(
                { config, environment, baseDir, http, signIn: () => this.#openSignIn(), ...this.#guard() },
                context,
                sdk,
              ),
            ...events,
          },
          signal,
        ),
    });
  }

  /** Where a server that the operator's file does not name sends us to, say for a sign-in, is the public web. */
  #guard(): { elsewhere?: (url: URL, signal: AbortSignal) => Promise<HttpClient> } {
    if (this.#options.persistent) return {};
    return { elsewhere: (url, signal) => publicClient(url, signal, this.#context.environment) };
  }

  async #openSignIn(): Promise<ServerSignIn | undefined> {
    this.#signingIn ??= this.#makeSignIn();
    this.#signIn = await this.#signingIn;
    return this.#signIn;
  }

  /** Without anybody who could sign in, only a sign-in of earlier is of use. */
  async #makeSignIn(): Promise<ServerSignIn | undefined> {
    const { config, name } = this.#options;
    const { callbackUrl, publicUrl, tokens, version, now, limits } = this.#context;
    if (config.type === 'stdio') return undefined;
    const open = callbackUrl && publicAddresses(publicUrl?.(), name);
    const back =
      callbackUrl === undefined
        ? await this.#earlierCallback(config.url)
        : (open?.callback ?? (await callbackUrl(name)));
    if (back === undefined) return undefined;
    return new ServerSignIn(await loadSdk(), {
      name,
      url: config.url,
      file: tokens,
      callbackUrl: back,
      clientMetadataUrl: open?.document,
      version,
      now,
      lifetimeMs: limits.signInMs,
    });
  }

  async #earlierCallback(url: string): Promise<string | undefined> {
    const earlier = await this.#context.tokens.read(this.#options.name, url);
    const back = earlier?.client?.['redirect_uris'];
    const first: unknown = Array.isArray(back) ? back[0] : undefined;
    return earlier?.tokens !== undefined && typeof first === 'string' ? first : undefined;
  }

  #makeTool({ rawName, ...tool }: ListedMcpTool): McpTool {
    return {
      ...tool,
      server: this.#options.name,
      call: (input, options) => this.#call(toolCall(rawName, input), options),
    };
  }

  async #call(operation: McpOperation, options: McpToolCallOptions): Promise<McpToolCallResult> {
    const { name, config } = this.#options;
    options.signal.throwIfAborted();
    const link = config.shared || options.session === undefined ? this.#link : this.#linkFor(options.session);
    if (link === undefined) {
      return unavailable(
        name,
        `${this.#context.limits.sessionLinks} sessions use it already; try again later`,
      );
    }
    // A call that the server has refused unseen, because it restarted, is made once more.
    for (const again of [false, true]) {
      const connection = await this.#ready(link, options.signal);
      if (connection === undefined) return unavailable(name, this.#whyNot(link.state));
      const outcome = await connection.call(operation, options, config.timeout_s * 1000);
      if (outcome.kind === 'answered') return outcome.result;
      if (again) return unavailable(name, outcome.problem);
      await untilAborted(link.connect(), options.signal);
    }
    return unavailable(name, 'it cannot be reached');
  }

  /** Waits for an attempt that runs, and makes one where none is planned. */
  async #ready(link: ServerLink, signal: AbortSignal): Promise<McpConnection | undefined> {
    const { state } = link;
    const waits = state.kind === 'idle' || state.kind === 'connecting';
    if (waits || (state.kind === 'failed' && state.retryAt === undefined)) {
      await untilAborted(link.connect(), signal);
    }
    return link.connection;
  }

  #whyNot(state: LinkState): string {
    if (state.kind === 'needs-auth') return 'it wants a sign-in; ask the operator of the gateway';
    if (state.kind !== 'failed') return 'it was removed';
    const { problem, retryAt } = state;
    if (retryAt === undefined) return problem;
    return `${problem}; it is tried again in ${Math.max(1, Math.ceil((retryAt - this.#context.now()) / 1000))} s`;
  }

  #linkFor(session: string): ServerLink | undefined {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    if (this.#closed || this.#sessions.size >= this.#context.limits.sessionLinks) return undefined;
    const link = this.#makeLink(
      false,
      () => {},
      () => {},
    );
    this.#sessions.set(session, link);
    return link;
  }

  async #endSessions(): Promise<void> {
    const links = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(links.map((link) => link.close()));
  }
}

async function publicClient(
  url: URL,
  signal: AbortSignal,
  env: EntryContext['environment'],
): Promise<HttpClient> {
  const fetcher = { name: 'A server that was added at run time', setting: 'mcp_servers in toolgate.yaml' };
  const addresses = await new HostCheck({ env, fetcher }).addressesOf(url, signal);
  return new HttpClient({
    maxIdlePerHost: 0,
    ...(addresses === undefined ? { env } : { env: {}, lookup: pinnedLookup(addresses) }),
  });
}

function unavailable(name: string, why: string): McpToolCallResult {
  const text = `The MCP server "${name}" is not connected: ${why}. The call was not made.`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** Values that must not appear in what is said about the server. Short ones would blank out ordinary words. */
function secretsOf(config: McpServerConfig): string[] {
  const values = config.type === 'stdio' ? Object.values(config.env) : Object.values(config.headers);
  const bare = values.map((value) => value.replace(/^(?:bearer|basic|token)\s+/i, ''));
  return [...values, ...bare].filter((value) => value.length >= 8);
}
