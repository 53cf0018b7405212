/** What can be asked for: configured names, and for a glob what its upstream itself lists. */
import { isGlob } from '../routing/model-glob.js';
import type { ModelRouter, ModelRule } from '../routing/model-router.js';
import type { ListedModel, Upstream } from '../upstreams/upstream.js';
import type { ModelInfo } from './engine.js';

/** Claude Code gives up on the list after three seconds. */
const ASK_TIMEOUT_MS = 2_000;
const FRESH_MS = 5 * 60_000;

interface Listed {
  at: number;
  models: Promise<readonly ListedModel[]>;
}

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
