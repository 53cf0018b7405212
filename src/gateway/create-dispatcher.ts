/** Configuration into something that answers: upstreams, routes and engines put together. */
import type { TurnWatcher } from '../activity/activity.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import { withOfferedTools } from '../core/tool-changes.js';
import { AgentEngine, type AgentEngineOptions } from '../engines/agent/agent-engine.js';
import type { ClaudeCodeDriverOptions, createClaudeCodeDriver } from '../engines/claude-code/driver.js';
import { notForwarded } from '../engines/demands.js';
import type { Answer, Dispatcher, Engine, ModelRequest } from '../engines/engine.js';
import { calledModel, type Folders, ModelList, mayCall, rulesOf } from '../engines/model-catalogue.js';
import { ModelPrices } from '../engines/model-prices.js';
import type { createNativeDriver, NativeDriverOptions } from '../engines/native/driver.js';
import { PlainDriver } from '../engines/plain/driver.js';
import type { ProviderTools } from '../engines/relay/provider-tools.js';
import { Relay } from '../engines/relay/relay.js';
import { checkWorkspace } from '../engines/workspace-roots.js';
import { type ModelRoute, ModelRouter } from '../routing/model-router.js';
import { HttpClient } from '../transport/http-client/http-client.js';
import { createUpstreams } from '../upstreams/create-upstreams.js';
import type { ListPrices } from '../upstreams/list-prices.js';
import { PoolStates } from '../upstreams/pool/pool-states.js';
import type { Lesson } from '../upstreams/quirks/create-quirk-source.js';
import type { TargetMove } from '../upstreams/upstream-pool.js';
import { createPasses } from './create-passes.js';
import type { KeyLimits } from './limits/key-limits.js';

interface DispatcherOptions {
  config: Config;
  /** Of models that are agents. */
  folders?: Folders | undefined;
  /** What upstreams' errors taught before. */
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
  onUpstreamFailure?: (upstream: string, error: GatewayError) => void;
  /** As those of the relay. */
  onRetry?: (upstream: string) => void;
  onRefusal?: (upstream: string) => void;
  /** Called where a conversation goes on at another target of a pool. */
  onMove?: (move: TargetMove) => void;
  /** Receives every turn of an agent. */
  watcher?: TurnWatcher | undefined;
  /** For all tries of one request. */
  retryBudgetMs?: number;
  /** By which upstreams that failed are left alone for a while. */
  now?: () => number;
  /** Of the keys that have some. */
  limits?: KeyLimits;
  /** In the place of those that this version was made with. */
  listPrices?: ListPrices | undefined;
  /** For models with `engine: native`; without it they are refused. */
  native?: NativeOptions;
  /** For models with `engine: claude-code`; without it they are refused. */
  claudeCode?: ClaudeCodeOptions;
  /** For models with `server_tools`; without it what clients ask of their provider is lost. */
  providerTools?: ProviderTools;
  /** For conversations with plain models that the gateway keeps; without it they are refused. */
  plain?: EngineOptions;
}

/** What an engine of agents needs besides its driver. */
type EngineOptions = Omit<AgentEngineOptions, 'driver' | 'watcher'>;

/** What the native agent needs beyond the configuration. The caller closes the runtime, after the dispatcher. */
interface NativeOptions
  extends EngineOptions,
    Pick<NativeDriverOptions, 'runtime' | 'startDir' | 'home' | 'now'> {
  /** Given from outside: a gateway without agents does not load it. */
  create: typeof createNativeDriver;
}

/** What Claude Code needs beyond the configuration. The dispatcher closes the processes. */
interface ClaudeCodeOptions
  extends EngineOptions,
    Omit<ClaudeCodeDriverOptions, 'relay' | 'maxLive' | 'sessions'> {
  /** Given from outside: a gateway without agents does not load it. */
  create: typeof createClaudeCodeDriver;
}

export interface ClosableDispatcher extends Dispatcher {
  /** Ends the sessions of agents and idle connections to upstreams. */
  close(): Promise<void>;
  /** Other models and upstreams for requests that come from now on; those that run keep theirs. */
  reconfigure(
    next: Pick<DispatcherOptions, 'config' | 'lessons'> & {
      native?: NativeOptions | undefined;
      claudeCode?: ClaudeCodeOptions | undefined;
      providerTools?: ProviderTools | undefined;
    },
  ): void;
}

export function createDispatcher(options: DispatcherOptions): ClosableDispatcher {
  const { config, onUpstreamFailure, retryBudgetMs, now } = options;
  const { folders } = options;
  const client = new HttpClient();
  let router = new ModelRouter(rulesOf(config.models, folders));
  const pools = new PoolStates(now);
  let { upstreams } = createUpstreams(config, { ...options, pools }, client);
  let configured = config.upstreams;
  let prices = new ModelPrices(configured, options.listPrices);
  const relay = new Relay({
    upstreams,
    ...(onUpstreamFailure ? { onFailure: onUpstreamFailure } : {}),
    ...(options.onRetry ? { onRetry: options.onRetry } : {}),
    ...(options.onRefusal ? { onRefusal: options.onRefusal } : {}),
    ...(retryBudgetMs === undefined ? {} : { retryBudgetMs }),
    ...(now === undefined ? {} : { now }),
  });
  if (options.providerTools !== undefined) relay.runProviderTools(options.providerTools);
  let models = new ModelList(router, upstreams);
  let native = options.native === undefined ? undefined : openNative(options.native);

  let claudeCode = options.claudeCode === undefined ? undefined : openClaudeCode(options.claudeCode);

  const plain =
    options.plain === undefined
      ? undefined
      : new AgentEngine({ watcher: options.watcher, ...options.plain, driver: new PlainDriver(relay) });

  function openClaudeCode(given: ClaudeCodeOptions): AgentEngine {
    const driver = given.create({ ...given, relay, maxLive: config.sessions.max_live });
    return new AgentEngine({ watcher: options.watcher, ...given, driver });
  }

  function openNative(given: NativeOptions): AgentEngine {
    const driver = given.create({
      ...given,
      relay,
      routeOf: (model, principal) => (mayCall(router, model, principal) ? router.route(model) : undefined),
    });
    return new AgentEngine({ watcher: options.watcher, ...given, driver });
  }

  function routeOf({ principal, request: { model } }: ModelRequest): ModelRoute {
    return calledModel(router, model, principal);
  }

  function engineOf(call: ModelRequest, { rule: { engine } }: ModelRoute): Engine {
    if (engine === 'relay' && call.kept === undefined) return relay;
    const { verbatim } = call.request;
    if (verbatim !== undefined) throw notForwarded(verbatim);
    if (engine === 'relay' && plain !== undefined) return plain;
    if (engine === 'native' && native !== undefined) return native;
    if (engine === 'claude-code' && claudeCode !== undefined) return claudeCode;
    throw new GatewayError(
      'not_implemented',
      `The model ${call.request.model} uses the engine ${engine}, which this version does not have. Use engine: relay.`,
    );
  }

  return {
    async run(call: ModelRequest): Promise<Answer> {
      const { bound } = call.principal;
      if (bound !== undefined) return bound.run(call);
      const route = placed(routeOf(call), call);
      const known = prices;
      checkWorkspace(call.principal, route.rule.cwd);
      if (options.limits?.meters(call.principal.name)) call.metered = true;
      const run = () => engineOf(call, route).run(isAgent(route) ? withTools(call) : call, route);
      const answer = await (options.limits?.within(
        call,
        { hasPrice: known.isKnown(route, call.request), isAgent: isAgent(route) },
        run,
      ) ?? run());
      const price = known.of(route, answer.upstream, call.request);
      return price === undefined ? answer : { ...answer, price };
    },
    async countTokens(call: ModelRequest): Promise<number> {
      const { bound } = call.principal;
      if (bound !== undefined) return bound.countTokens(call);
      const route = routeOf(call);
      const { engine } = route.rule;
      const agent = engine === 'native' ? native : engine === 'claude-code' ? claudeCode : undefined;
      return (agent ?? relay).countTokens(call, route);
    },
    async ask(call, path) {
      const route = routeOf(call);
      if (call.principal.bound !== undefined || route.rule.engine !== 'relay') {
        if (path === '/responses/compact') throw keepsItself(call.request.model);
        return undefined;
      }
      const known = prices;
      // Providers count tokens for nothing.
      if (path !== '/responses/input_tokens')
        await options.limits?.check(call, { hasPrice: known.isKnown(route, call.request) });
      const answer = await relay.ask(call, route, path);
      const price = answer && known.of(route, answer.upstream, call.request);
      return answer === undefined || price === undefined ? answer : { ...answer, price };
    },
    async askKeeper(name, call) {
      const answer = await upstreams.get(name)?.ask?.(call);
      return answer === undefined ? undefined : { ...answer, upstream: name };
    },
    ...createPasses(() => ({ upstreams, router, configured }), options.limits),
    models: () => models.list(),
    reconfigure(next) {
      const rules = rulesOf(next.config.models, folders);
      router = new ModelRouter(rules);
      ({ upstreams } = createUpstreams(next.config, { ...options, ...next, pools }, client));
      configured = next.config.upstreams;
      prices = new ModelPrices(configured, options.listPrices);
      relay.use(upstreams, Object.values(rules));
      models = new ModelList(router, upstreams);
      if (next.providerTools !== undefined) relay.runProviderTools(next.providerTools);
      if (next.native !== undefined) native ??= openNative(next.native);
      if (next.claudeCode !== undefined) claudeCode ??= openClaudeCode(next.claudeCode);
    },
    async close() {
      await plain?.close();
      await native?.close();
      await claudeCode?.close();
      await client.close();
    },
  };
}

/** What an agent offers its model is its own list. */
function withTools(call: ModelRequest): ModelRequest {
  const request = withOfferedTools(call.request);
  return request === call.request ? call : { ...call, request };
}

const isAgent = ({ rule }: ModelRoute): boolean => rule.engine !== 'relay';

/** In the folder that was chosen for the conversation. */
function placed(route: ModelRoute, { kept }: ModelRequest): ModelRoute {
  if (kept?.root === undefined || route.rule.engine === 'relay') return route;
  return { ...route, rule: { ...route.rule, cwd: kept.root } };
}

function keepsItself(model: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The model ${model} is an agent, which makes room in its context by itself. Go on with the conversation as it is.`,
    { param: 'model', detail: 'compact_not_supported' },
  );
}
