/** Configuration into something that answers: upstreams, routes and engines put together. */
import type { Config, ModelConfig } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import { matchesGlob } from '../routing/model-glob.js';
import { type ModelRule, type Route, Router } from '../routing/router.js';
import { createUpstreams } from '../upstreams/create-upstreams.js';
import type { Lesson } from '../upstreams/quirks/create-quirk-source.js';
import type { Dispatcher } from './dispatcher.js';
import type { Answer, Call } from './engine.js';
import { ModelList } from './model-list.js';
import { Relay } from './relay/relay.js';

export interface DispatcherOptions {
  config: Config;
  /** What upstreams' errors taught before. */
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
  onUpstreamFailure?: (upstream: string, error: GatewayError) => void;
  /** For all tries of one request. */
  retryBudgetMs?: number;
}

export interface ClosableDispatcher extends Dispatcher {
  /** Ends idle connections to upstreams. */
  close(): Promise<void>;
}

export function createDispatcher(options: DispatcherOptions): ClosableDispatcher {
  const { config, onUpstreamFailure, retryBudgetMs } = options;
  const router = new Router(rulesOf(config.models));
  const { upstreams, close } = createUpstreams(config, options);
  const relay = new Relay({
    upstreams,
    ...(onUpstreamFailure ? { onFailure: onUpstreamFailure } : {}),
    ...(retryBudgetMs === undefined ? {} : { retryBudgetMs }),
  });
  const models = new ModelList(router, upstreams);

  function routeOf(call: Call): Route {
    const { model } = call.request;
    const name = router.meant(model);
    if (!call.principal.models.some((pattern) => matchesGlob(pattern, name))) {
      throw new GatewayError(
        'forbidden',
        `The key ${call.principal.name} may not call the model ${name}. It may call: ${call.principal.models.join(', ')}.`,
        { param: 'model' },
      );
    }
    const route = router.route(model);
    if (route !== undefined) return route;
    throw new GatewayError('not_found', unknownModel(name, router.patterns()), {
      param: 'model',
      detail: 'model_not_found',
    });
  }

  return {
    async run(call: Call): Promise<Answer> {
      const route = routeOf(call);
      if (route.rule.engine === 'relay') return relay.run(call, route);
      throw new GatewayError(
        'not_implemented',
        `The model ${call.request.model} uses the engine ${route.rule.engine}, which this version does not have. Use engine: relay.`,
      );
    },
    async countTokens(call: Call): Promise<number> {
      return relay.countTokens(call, routeOf(call));
    },
    models: () => models.list(),
    close,
  };
}

function rulesOf(models: Config['models']): Record<string, ModelRule> {
  return Object.fromEntries(Object.entries(models).map(([name, model]) => [name, ruleOf(model)]));
}

function ruleOf(model: ModelConfig): ModelRule {
  return {
    engine: model.engine,
    upstreams: typeof model.upstream === 'string' ? [model.upstream] : model.upstream,
    ...(model.model === undefined ? {} : { model: model.model }),
    ...(model.display_name === undefined ? {} : { displayName: model.display_name }),
    ...(model.context_window === undefined ? {} : { contextWindow: model.context_window }),
    ...(model.max_output_tokens === undefined ? {} : { maxOutputTokens: model.max_output_tokens }),
    ...(model.effort === undefined ? {} : { efforts: model.effort }),
  };
}

const LISTED = 12;

function unknownModel(name: string, patterns: readonly string[]): string {
  if (patterns.length === 0)
    return `No model is configured, so ${name} is unknown. Add it under models in toolgate.yaml.`;
  const known = patterns.slice(0, LISTED).join(', ');
  const more = patterns.length > LISTED ? ` and ${patterns.length - LISTED} more` : '';
  return `The model ${name} is not configured. Known: ${known}${more}. Add it under models in toolgate.yaml.`;
}
