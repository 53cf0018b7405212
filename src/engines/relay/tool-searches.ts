/**
 * Tool search for clients that bring more tools than fit. The gateway answers the model's searches itself,
 * within the one request of the client, who sees none of it but the usage.
 */
import type { ConversationRequest, ToolDefinition } from '../../core/conversation.js';
import { knownTools } from '../../core/tool-references.js';
import type { ModelRule } from '../../routing/model-router.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from '../../upstreams/upstream.js';
import type { ModelRequest } from '../engine.js';
import {
  adoptSearch,
  type DeferredTools,
  deferTools,
  SEARCH_TOOL,
  searchTools,
} from '../tool-search/defer-tools.js';
import { GatewayRounds, type GatewayToolRun } from './gateway-rounds.js';
import { LoadedTools } from './loaded-tools.js';
import type { ProviderTools } from './provider-tools.js';

/** A request some of whose tools are the gateway's to answer, and how to ask an upstream with it. */
interface SearchedRequest {
  readonly request: ConversationRequest;
  /** As the upstream's own `call`; what it answers is the end of all searches. */
  call(upstream: Upstream, call: UpstreamRequest): Promise<UpstreamAnswer>;
}

export class ToolSearches {
  readonly #loaded = new LoadedTools();
  /** Runs what clients ask of their provider, where a model's entry says so. */
  providerTools: ProviderTools | undefined;

  /**
   * Undefined where the tools are sent as they are. With `body`, the client's own bytes that could be forwarded,
   * they are unless the model's entry wants the search.
   */
  of(
    { dialect }: Pick<Upstream, 'dialect'>,
    asked: Pick<ModelRequest, 'principal' | 'id'>,
    given: ConversationRequest,
    rule: ModelRule,
    body?: Uint8Array,
  ): SearchedRequest | undefined {
    // What is embedded reads no prompt.
    if (dialect === undefined) return undefined;
    const isForced =
      rule.toolSearch === 'on' && given.verbatim === undefined && given.continues === undefined;
    if (body !== undefined && !isForced) return undefined;
    const run = this.providerTools?.of(given, dialect, asked, rule);
    const { tools, providerTools } = run?.request ?? given;
    const adopted = rule.toolSearch === 'off' ? undefined : adoptSearch({ tools, providerTools }, dialect);
    const deferral =
      adopted ??
      deferTools(tools, { rule, providerTools, stays: ({ name }) => run?.runs.has(name) ?? false });
    if (deferral === undefined && run === undefined) return undefined;
    const { principal } = asked;
    const asker = { principal, request: given };
    // Also for upstreams that keep tools back themselves, which go by searches alone.
    const before =
      deferral === undefined ? [] : [...new Set([...this.#loaded.of(asker), ...knownTools(given)])];
    const request = {
      ...(run?.request ?? given),
      tools: deferral === undefined ? tools : loadedFirst(deferral, before),
      providerTools: adopted?.providerTools ?? providerTools,
    };
    const { deferred = [] } = deferral ?? {};
    const runs = new Map<string, GatewayToolRun>(run?.runs);
    if (deferral !== undefined) {
      runs.set(SEARCH_TOOL, async (block) => ({ result: searchTools(block, deferred), shown: [] }));
    }
    return {
      request,
      call: async (upstream, call) => {
        const first = await upstream.call({ ...call, request });
        const { losses, promptTokens, upstream: target } = first;
        const held = new Set(deferred.map(({ name }) => name));
        const rounds = new GatewayRounds(upstream, { ...call, request }, runs, (said, known) => {
          const names = [...new Set([...before, ...known])].filter((name) => held.has(name));
          this.#loaded.remember(asker, said, names);
        });
        return {
          losses,
          ...(target === undefined ? {} : { upstream: target }),
          ...(promptTokens === undefined ? {} : { promptTokens }),
          batches: rounds.run(first),
        };
      },
    };
  }
}

/** Those that were found before are shown, in the order in which they were found. */
function loadedFirst({ tools, deferred }: DeferredTools, names: readonly string[]): ToolDefinition[] {
  const held = new Map(deferred.map((tool) => [tool.name, tool]));
  const loaded = names.flatMap((name) => {
    const { deferred: _deferred, ...tool } = held.get(name) ?? { name: '' };
    return tool.name === '' ? [] : [tool];
  });
  const isLoaded = new Set(names);
  return [
    ...tools.filter((tool) => tool.deferred !== true),
    ...loaded,
    ...deferred.filter(({ name }) => !isLoaded.has(name)),
  ];
}
