/** The models of the configuration: whom a name leads to for a caller who may ask, what is listed, and what a person chooses among. */
import { resolveModelCwd } from '../config/paths.js';
import type { Config, ModelConfig } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import { isGlob, matchesAny } from '../routing/model-glob.js';
import { type ModelRoute, ModelRouter, type ModelRule } from '../routing/model-router.js';
import type { ListPrices } from '../upstreams/list-prices.js';
import type { ListedModel, Upstream } from '../upstreams/upstream.js';
import type { ModelInfo, Principal } from './engine.js';
import { ModelPrices } from './model-prices.js';

type Caller = Pick<Principal, 'name' | 'models'>;

/** Names that a refusal lists at most. */
const LISTED = 12;

export function mayCall(router: ModelRouter, model: string, { models }: Pick<Caller, 'models'>): boolean {
  const name = router.meant(model);
  return matchesAny(models, name);
}

/** Throws `forbidden` for a model that the key may not call, `not_found` for one that nothing matches. */
export function calledModel(router: ModelRouter, model: string, principal: Caller): ModelRoute {
  const name = router.meant(model);
  if (!mayCall(router, model, principal)) {
    throw new GatewayError(
      'forbidden',
      `The key ${principal.name} may not call the model ${name}. It may call: ${principal.models.join(', ')}.`,
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

function unknownModel(name: string, patterns: readonly string[]): string {
  if (patterns.length === 0)
    return `No model is configured, so ${name} is unknown. Add it under models in toolgate.yaml.`;
  const known = patterns.slice(0, LISTED).join(', ');
  const more = patterns.length > LISTED ? ` and ${patterns.length - LISTED} more` : '';
  return `The model ${name} is not configured. Known: ${known}${more}. Add it under models in toolgate.yaml.`;
}

export interface OfferedModel {
  /** As one calls it; a pattern where `pattern` is true. */
  name: string;
  pattern: boolean;
  engine: ModelRule['engine'];
  displayName: string | undefined;
  upstreams: readonly string[];
  /** Of agents: the folder that they work in, absolute. */
  root: string | undefined;
  contextWindow: number | undefined;
  priced: boolean;
}

export interface ModelCatalogue {
  /** Throws `not_found` and `forbidden` as a request to the model does. */
  find(model: string, principal: Caller): OfferedModel;
  /** What the key may call: names, those of `listed` that lead somewhere, then patterns. */
  offered(principal: Caller, listed?: readonly ListedName[]): OfferedModel[];
}

/** A model that an upstream lists itself. */
interface ListedName {
  id: string;
  displayName: string;
  contextWindow?: number;
}

export function createModelCatalogue({
  models,
  upstreams,
  listPrices,
  ...folders
}: Folders & Pick<Config, 'models' | 'upstreams'> & { listPrices?: ListPrices | undefined }): ModelCatalogue {
  const router = new ModelRouter(rulesOf(models, folders));
  const prices = new ModelPrices(upstreams, listPrices);

  function offer(name: string, rule: ModelRule): OfferedModel {
    return {
      name,
      pattern: isGlob(name),
      engine: rule.engine,
      displayName: rule.displayName,
      upstreams: rule.upstreams,
      root: rule.engine === 'relay' ? undefined : (rule.cwd ?? folders.startDir),
      contextWindow: rule.contextWindow,
      priced: prices.isKnown({ rule, model: rule.model ?? name }),
    };
  }

  /** Names that the key itself says, and that only a pattern of the configuration answers. */
  function namesOfKey({ models: allowed }: Caller): string[] {
    return allowed.filter((name) => !isGlob(name));
  }

  return {
    find(model, principal) {
      const { rule } = calledModel(router, model, principal);
      return offer(router.meant(model), rule);
    },
    offered(principal, listed = []) {
      const found = new Map<string, OfferedModel>();
      const add = (name: string, more: Partial<ListedName> = {}) => {
        const rule = router.route(name)?.rule;
        if (rule === undefined || found.has(name) || !mayCall(router, name, principal)) return;
        const offered = offer(name, rule);
        found.set(name, {
          ...offered,
          displayName: offered.displayName ?? (more.displayName === name ? undefined : more.displayName),
          contextWindow: offered.contextWindow ?? more.contextWindow,
        });
      };
      for (const name of router.named().keys()) add(name);
      for (const name of namesOfKey(principal)) add(name);
      for (const { id, ...more } of listed) add(id, more);
      for (const pattern of router.patterns()) {
        const rule = isGlob(pattern) ? router.rule(pattern) : undefined;
        const isOffered = matchesAny(principal.models, pattern);
        if (rule !== undefined && isOffered) found.set(pattern, offer(pattern, rule));
      }
      return [...found.values()];
    },
  };
}

/** What paths of models are relative to: those of the configuration, and where none is named. */
export interface Folders {
  baseDir: string;
  /** The folder that the gateway was started in. */
  startDir: string;
}

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
    ...(model.tool_search === undefined ? {} : { toolSearch: model.tool_search }),
  };
}

function priceOf({ price }: ModelConfig): Partial<ModelRule> {
  if (price === undefined) return {};
  if (price === 'none') return { price };
  const { input, output, cache_read: cacheRead = input, cache_write: cacheWrite = input } = price;
  return { price: { input, output, cacheRead, cacheWrite } };
}

function agentRule(model: ModelConfig, folders: Folders | undefined): Partial<ModelRule> {
  if (model.engine === 'relay') {
    return model.server_tools === undefined ? {} : { providerTools: model.server_tools };
  }
  const { tools, max_turns: maxSteps, system } = model;
  const cwd = folders === undefined ? undefined : resolveModelCwd(model, folders);
  return { tools, maxSteps, system, ...(cwd === undefined ? {} : { cwd }) };
}

/** Claude Code gives up on the list after three seconds. */
const ASK_TIMEOUT_MS = 2_000;
const FRESH_MS = 5 * 60_000;

interface Listed {
  at: number;
  models: Promise<readonly ListedModel[]>;
}

/** What can be asked for: configured names, and for a glob what its upstream itself lists. */
export class ModelList {
  readonly #router: ModelRouter;
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  readonly #now: () => number;
  readonly #created: number;
  readonly #asked = new Map<string, Listed>();

  constructor(router: ModelRouter, upstreams: ReadonlyMap<string, Upstream>, now: () => number = Date.now) {
    this.#router = router;
    this.#upstreams = upstreams;
    this.#now = now;
    this.#created = Math.floor(now() / 1000);
  }

  /** Configured names first. An upstream that does not answer in time adds nothing. */
  async list(): Promise<readonly ModelInfo[]> {
    const found = new Map<string, ModelInfo>();
    for (const [id, rule] of this.#router.named()) found.set(id, this.#info(id, rule));
    for (const models of await Promise.all(
      [...this.#openUpstreams()].map((upstream) => this.#ask(upstream)),
    )) {
      for (const model of models) this.#addDiscovered(model, found);
    }
    // Of itself it lists nothing: any name will do.
    const demo = found.size === 0 ? this.#router.route('demo') : undefined;
    if (demo !== undefined) found.set('demo', this.#info('demo', demo.rule));
    return [...found.values()];
  }

  /** A name only counts where asking for it would lead to the upstream that listed it. */
  #addDiscovered(model: ListedModel & { upstream: string }, found: Map<string, ModelInfo>): void {
    if (found.has(model.id)) return;
    const route = this.#router.route(model.id);
    if (route === undefined || !isGlob(route.pattern) || route.rule.model !== undefined) return;
    if (route.rule.upstreams[0] !== model.upstream) return;
    const { id, displayName, created, contextWindow } = model;
    found.set(id, {
      ...this.#info(id, route.rule),
      ...(displayName === undefined ? {} : { displayName }),
      ...(created === undefined ? {} : { created }),
      ...(contextWindow === undefined ? {} : { contextWindow }),
    });
  }

  /** First upstreams of globs that pass the name on. */
  #openUpstreams(): Set<string> {
    const names = new Set<string>();
    for (const pattern of this.#router.patterns()) {
      const rule = isGlob(pattern) ? this.#router.rule(pattern) : undefined;
      const [first] = rule?.model === undefined ? (rule?.upstreams ?? []) : [];
      if (first !== undefined) names.add(first);
    }
    return names;
  }

  async #ask(name: string): Promise<readonly (ListedModel & { upstream: string })[]> {
    const upstream = this.#upstreams.get(name);
    if (upstream?.listModels === undefined) return [];
    const known = this.#asked.get(name);
    const now = this.#now();
    const models =
      known !== undefined && now - known.at < FRESH_MS
        ? known.models
        : upstream.listModels(AbortSignal.timeout(ASK_TIMEOUT_MS));
    if (models !== known?.models) this.#asked.set(name, { at: now, models });
    try {
      return (await models).map((model) => ({ ...model, upstream: name }));
    } catch {
      this.#asked.delete(name);
      return [];
    }
  }

  #info(id: string, rule: ModelRule): ModelInfo {
    return {
      id,
      displayName: rule.displayName ?? id,
      created: this.#created,
      ownedBy: rule.upstreams[0] ?? 'toolgate',
      ...(rule.contextWindow === undefined ? {} : { contextWindow: rule.contextWindow }),
    };
  }
}
