/** Configuration into something that answers: upstreams, routes and engines put together. */
import type { TurnWatcher } from '../activity/activity.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import { AgentEngine, type AgentEngineOptions } from '../engines/agent/agent-engine.js';
import type { ClaudeCodeDriverOptions, createClaudeCodeDriver } from '../engines/claude-code/driver.js';
import { notForwarded } from '../engines/demands.js';
import type { Answer, Dispatcher, Engine, ModelRequest } from '../engines/engine.js';
import { calledModel, ModelList, mayCall, rulesOf } from '../engines/model-catalogue.js';
import type { createNativeDriver, NativeDriverOptions } from '../engines/native/driver.js';
import { PlainDriver } from '../engines/plain/driver.js';
import { Relay } from '../engines/relay/relay.js';
import { type ModelRoute, ModelRouter } from '../routing/model-router.js';
import { createUpstreams } from '../upstreams/create-upstreams.js';
import type { Lesson } from '../upstreams/quirks/create-quirk-source.js';
import type { KeyLimits } from './key-limits.js';

interface DispatcherOptions {
  config: Config;
  /** What upstreams' errors taught before. */
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
  onUpstreamFailure?: (upstream: string, error: GatewayError) => void;
  /** Receives every turn of an agent. */
  watcher?: TurnWatcher | undefined;
  /** For all tries of one request. */
  retryBudgetMs?: number;
  /** By which upstreams that failed are left alone for a while. */
  now?: () => number;
  /** Of the keys that have some. */
  limits?: KeyLimits;
  /** For models with `engine: native`; without it they are refused. */
  native?: NativeOptions;
  /** For models with `engine: claude-code`; without it they are refused. */
  claudeCode?: ClaudeCodeOptions;
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
  /** What paths in the configuration are relative to. */
  baseDir: string;
}

/** What Claude Code needs beyond the configuration. The dispatcher closes the processes. */
interface ClaudeCodeOptions
  extends EngineOptions,
    Omit<ClaudeCodeDriverOptions, 'relay' | 'maxLive' | 'sessions'> {
  /** Given from outside: a gateway without agents does not load it. */
  create: typeof createClaudeCodeDriver;
  /** What paths in the configuration are relative to. */
  baseDir: string;
}

export interface ClosableDispatcher extends Dispatcher {
  /** Ends the sessions of agents and idle connections to upstreams. */
  close(): Promise<void>;
}

export function createDispatcher(options: DispatcherOptions): ClosableDispatcher {
  const { config, onUpstreamFailure, retryBudgetMs, now } = options;
  const router = new ModelRouter(rulesOf(config.models, options.native ?? options.claudeCode));
  const { upstreams, close: closeUpstreams } = createUpstreams(config, options);
  const relay = new Relay({
    upstreams,
    ...(onUpstreamFailure ? { onFailure: onUpstreamFailure } : {}),
    ...(retryBudgetMs === undefined ? {} : { retryBudgetMs }),
    ...(now === undefined ? {} : { now }),
  });
  const models = new ModelList(router, upstreams);
  const native = options.native === undefined ? undefined : openNative(options.native);

  const claudeCode = options.claudeCode === undefined ? undefined : openClaudeCode(options.claudeCode);

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
      const { pinned } = call.principal;
      if (pinned !== undefined) return pinned.run(call);
      const route = placed(routeOf(call), call);
      const { price } = route.rule;
      const run = () => engineOf(call, route).run(call, route);
      const answer = await (options.limits?.within(call, price !== undefined, run) ?? run());
      return price === undefined ? answer : { ...answer, price };
    },
    async countTokens(call: ModelRequest): Promise<number> {
      const { pinned } = call.principal;
      if (pinned !== undefined) return pinned.countTokens(call);
      const route = routeOf(call);
      const { engine } = route.rule;
      const agent = engine === 'native' ? native : engine === 'claude-code' ? claudeCode : undefined;
      return (agent ?? relay).countTokens(call, route);
    },
    async ask(call, path) {
      const route = routeOf(call);
      if (call.principal.pinned !== undefined || route.rule.engine !== 'relay') return undefined;
      return relay.ask(call, route, path);
    },
    async askKeeper(name, call) {
      const answer = await upstreams.get(name)?.ask?.(call);
      return answer === undefined ? undefined : { ...answer, upstream: name };
    },
    models: () => models.list(),
    async close() {
      await plain?.close();
      await native?.close();
      await claudeCode?.close();
      await closeUpstreams();
    },
  };
}

/** In the folder that was chosen for the conversation. */
function placed(route: ModelRoute, { kept }: ModelRequest): ModelRoute {
  if (kept?.root === undefined || route.rule.engine === 'relay') return route;
  return { ...route, rule: { ...route.rule, cwd: kept.root } };
}
