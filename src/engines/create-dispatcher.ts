/** Configuration into something that answers: upstreams, routes and engines put together. */

import type { TurnObserver } from '../activity/activity.js';
import { resolveModelCwd } from '../config/paths.js';
import type { Config, ModelConfig } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import { type ModelRoute, ModelRouter, type ModelRule } from '../routing/model-router.js';
import { createUpstreams } from '../upstreams/create-upstreams.js';
import type { Lesson } from '../upstreams/quirks/create-quirk-source.js';
import { AgentEngine, type AgentEngineOptions } from './agent/agent-engine.js';
import { calledModel, mayCall } from './called-model.js';
import type { ClaudeCodeDriverOptions, createClaudeCodeDriver } from './claude-code/driver.js';
import type { Dispatcher } from './dispatcher.js';
import type { Answer, Engine, ModelRequest } from './engine.js';
import { ModelList } from './model-list.js';
import type { createNativeDriver, NativeDriverOptions } from './native/driver.js';
import { notForwarded } from './own-wire-only.js';
import { PlainDriver } from './plain/driver.js';
import { Relay } from './relay/relay.js';

export interface DispatcherOptions {
  config: Config;
  /** What upstreams' errors taught before. */
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
  onUpstreamFailure?: (upstream: string, error: GatewayError) => void;
  /** Told of every turn of an agent. */
  watcher?: TurnObserver | undefined;
  /** For all tries of one request. */
  retryBudgetMs?: number;
  /** By which upstreams that failed are left alone for a while. */
  now?: () => number;
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
export interface NativeOptions
  extends EngineOptions,
    Pick<NativeDriverOptions, 'runtime' | 'startDir' | 'home' | 'now'> {
  /** Given from outside: a gateway without agents does not load it. */
  create: typeof createNativeDriver;
  /** What paths in the configuration are relative to. */
  baseDir: string;
}

/** What Claude Code needs beyond the configuration. The dispatcher closes the processes. */
export interface ClaudeCodeOptions
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
      const answer = await engineOf(call, route).run(call, route);
      const { price } = route.rule;
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

export type Folders = Pick<NativeOptions, 'baseDir' | 'startDir'>;

export function rulesOf(models: Config['models'], folders: Folders | undefined): Record<string, ModelRule> {
  return Object.fromEntries(Object.entries(models).map(([name, model]) => [name, ruleOf(model, folders)]));
}

function ruleOf(model: ModelConfig, folders: Folders | undefined): ModelRule {
  return {
    ...agentRule(model, folders),
    ...priceOf(model),
    engine: model.engine,
    upstreams: typeof model.upstream === 'string' ? [model.upstream] : model.upstream,
    ...(model.model === undefined ? {} : { model: model.model }),
    ...(model.display_name === undefined ? {} : { displayName: model.display_name }),
    ...(model.context_window === undefined ? {} : { contextWindow: model.context_window }),
    ...(model.max_output_tokens === undefined ? {} : { maxOutputTokens: model.max_output_tokens }),
    ...(model.effort === undefined ? {} : { efforts: model.effort }),
  };
}

function priceOf({ price }: ModelConfig): Partial<ModelRule> {
  if (price === undefined) return {};
  const { input, output, cache_read: cacheRead = input, cache_write: cacheWrite = input } = price;
  return { price: { input, output, cacheRead, cacheWrite } };
}

function agentRule(model: ModelConfig, folders: Folders | undefined): Partial<ModelRule> {
  if (model.engine === 'relay') return {};
  const { tools, max_turns: maxSteps, system } = model;
  const cwd = folders === undefined ? undefined : resolveModelCwd(model, folders);
  return { tools, maxSteps, system, ...(cwd === undefined ? {} : { cwd }) };
}
