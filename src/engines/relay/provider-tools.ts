/**
 * Tools that a client asks of its provider (`web_search`, `web_fetch`), for upstreams that do not have them: the
 * model calls them as functions, the gateway's own WebSearch and WebFetch run under the rules and approvals
 * of the key, and the client gets the blocks of its own wire.
 */
import { randomBytes } from 'node:crypto';
import type {
  Block,
  ConversationRequest,
  DialectName,
  JsonObject,
  Message,
  OpaqueBlock,
  ProviderToolDefinition,
  ToolDefinition,
  ToolUseBlock,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { ModelRule } from '../../routing/model-router.js';
import type { ToolOffer, ToolRunResult, ToolRuntime } from '../../tools/runtime/runtime.js';
import { type Tool, ToolError } from '../../tools/runtime/tool.js';
import { isWithin, normalDomain } from '../../tools/web/web-search.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { ModelRequest } from '../engine.js';
import type { GatewayToolRun } from './gateway-rounds.js';
import { type Outcome, readableBlock, shownBlocks } from './provider-tool-blocks.js';

type ProviderToolName = 'web_search' | 'web_fetch';

interface ProviderToolsOptions {
  runtime: ToolRuntime;
  /** Where the gateway was started: rules are read there, nothing of it is touched. */
  workspace: Workspace;
  onBug(error: unknown): void;
}

/** `web_search_20250305`, `web_search`, `web_search_preview`; `web_fetch_20250910`. */
const KINDS: readonly { kind: RegExp; name: ProviderToolName }[] = [
  { kind: /^web_search(?:_preview)?(?:_\d.*)?$/, name: 'web_search' },
  { kind: /^web_fetch(?:_\d.*)?$/, name: 'web_fetch' },
];

const text = (description: string): JsonObject => ({ type: 'string', description });

const OWN: Readonly<Record<ProviderToolName, { tool: string; definition: ToolDefinition }>> = {
  web_search: {
    tool: 'WebSearch',
    definition: {
      name: 'web_search',
      description: 'Searches the web. Returns titles, addresses and short extracts of the pages found.',
      inputSchema: {
        type: 'object',
        properties: { query: text('What to search for.') },
        required: ['query'],
      },
    },
  },
  web_fetch: {
    tool: 'WebFetch',
    definition: {
      name: 'web_fetch',
      description: 'Fetches a page of the public web by its whole address and returns its text.',
      inputSchema: {
        type: 'object',
        properties: { url: text('With https:// or http://.') },
        required: ['url'],
      },
    },
  },
};

interface PlannedProviderTools {
  /** With functions in the place of the tools, and readable history. */
  request: ConversationRequest;
  runs: ReadonlyMap<string, GatewayToolRun>;
}

export class ProviderTools {
  readonly #options: ProviderToolsOptions;

  constructor(options: ProviderToolsOptions) {
    this.#options = options;
  }

  /** Undefined where nothing is to be run here: the entry does not say so, the upstream has it, or the client has a tool of that name. */
  of(
    request: ConversationRequest,
    upstream: DialectName,
    asked: Pick<ModelRequest, 'principal' | 'id'>,
    { providerTools: allowed = [] }: ModelRule,
  ): PlannedProviderTools | undefined {
    const taken = new Set(request.tools.map(({ name }) => name));
    const planned = request.providerTools.flatMap((tool) => {
      const name = KINDS.find(({ kind }) => kind.test(tool.kind))?.name;
      // The chat wire has no place for what such a tool did.
      const isShown = tool.dialect !== 'openai-chat';
      const isOurs = name !== undefined && allowed.includes(name) && !taken.has(name) && isShown;
      return isOurs && tool.dialect !== upstream ? [{ tool, name }] : [];
    });
    if (planned.length === 0) return undefined;
    const runs = new Map(planned.map(({ tool, name }) => [name, this.#run(tool, name, asked)]));
    const replaced = new Set(planned.map(({ tool }) => tool));
    return {
      runs,
      request: {
        ...request,
        messages: request.messages.map(readable),
        tools: [...request.tools, ...[...runs.keys()].map((name) => OWN[name].definition)],
        providerTools: request.providerTools.filter((tool) => !replaced.has(tool)),
      },
    };
  }

  #run(
    { dialect, value }: ProviderToolDefinition,
    name: ProviderToolName,
    asked: Pick<ModelRequest, 'principal' | 'id'>,
  ): GatewayToolRun {
    const { max_uses: most } = value;
    let left = typeof most === 'number' ? most : Number.POSITIVE_INFINITY;
    return async (call, signal) => {
      const outcome: Outcome =
        left <= 0
          ? {
              error: 'max_uses_exceeded',
              text: `${name} may not be used any more for this request. Answer now.`,
            }
          : await this.#outcome(call, name, value, asked, signal);
      left -= 1;
      const count = name === 'web_search' ? { webSearches: 1 } : { webFetches: 1 };
      const id = `srvtoolu_${randomBytes(12).toString('hex')}`;
      return {
        result: {
          type: 'tool_result',
          toolUseId: call.id,
          content: [{ type: 'text', text: outcome.text }],
          isError: outcome.error !== undefined,
        },
        shown: shownBlocks(dialect, { id, name, input: call.input }, outcome),
        ...(outcome.error === 'max_uses_exceeded' ? {} : { usage: count }),
      };
    };
  }

  async #outcome(
    call: ToolUseBlock,
    name: ProviderToolName,
    wishes: JsonObject,
    { principal, id }: Pick<ModelRequest, 'principal' | 'id'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { runtime, workspace, onBug } = this.#options;
    const { tool } = OWN[name];
    const domains = domainsIn(wishes);
    if (name === 'web_fetch' && !isAllowed(call.input['url'], domains)) return NOT_ALLOWED;
    const input =
      name === 'web_search'
        ? {
            query: call.input['query'],
            ...(domains.allowed && { allowed_domains: domains.allowed }),
            ...(domains.blocked && { blocked_domains: domains.blocked }),
          }
        : { url: call.input['url'] };
    try {
      const offer = await runtime.offer({ selection: [tool], requested: [], key: principal.name });
      if (offer.find(tool) === undefined) {
        return { error: 'unavailable', text: offer.whyOff?.(tool) ?? `${tool} is not available here.` };
      }
      let isRefused = false;
      const limited = within(offer, domains, () => {
        isRefused = true;
      });
      const toolState = await runtime.openToolState({ id, principal: principal.name, workspace });
      try {
        const options = { commands: [], model: '', forkNumber: 0, logName: id };
        const calls = [{ ...call, name: tool, input }];
        for await (const event of runtime.run({ calls, offer: limited, toolState, options, signal })) {
          if (event.type === 'tool-result') return isRefused ? NOT_ALLOWED : outcomeOf(event);
        }
      } finally {
        await toolState.close();
      }
    } catch (error) {
      onBug(error);
    }
    return { error: 'unavailable', text: 'The tool failed because of an internal error in the gateway.' };
  }
}

function outcomeOf({ content, isError, data, outcome }: ToolRunResult): Outcome {
  const said = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const facts = isObject(data) ? data : {};
  if (!isError) return { text: said, data: facts };
  return { text: said, error: outcome === 'invalid' ? 'invalid_tool_input' : 'unavailable' };
}

const NOT_ALLOWED: Outcome = {
  error: 'url_not_allowed',
  text: 'The request does not allow pages of this domain.',
};

/** As the client wrote them. */
interface Domains {
  allowed?: string[] | undefined;
  blocked?: string[] | undefined;
}

/** Anthropic has them on the tool, OpenAI in its filters. */
function domainsIn(wishes: JsonObject): Domains {
  const filters = isObject(wishes['filters']) ? wishes['filters'] : wishes;
  return { allowed: texts(filters['allowed_domains']), blocked: texts(filters['blocked_domains']) };
}

function texts(value: unknown): string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.length === 0 ? undefined : list.map((each) => (typeof each === 'string' ? each : ''));
}

/** What is no address is left to the tool to refuse. What cannot be read as a domain blocks all and allows none. */
function isAllowed(url: unknown, { allowed, blocked }: Domains): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return true;
  const host = normalDomain(new URL(url).href);
  if (host === undefined) return allowed === undefined && blocked === undefined;
  const isIn = (given: string): boolean | undefined => {
    const domain = normalDomain(given);
    return domain === undefined ? undefined : isWithin(host, domain);
  };
  if (blocked?.some((domain) => isIn(domain) !== false)) return false;
  return allowed === undefined || allowed.some((domain) => isIn(domain) === true);
}

/** The same tools, which go to no further host that the client does not allow. */
function within(offer: ToolOffer, domains: Domains, onRefused: () => void): ToolOffer {
  const limit = (tool: Tool): Tool => ({
    ...tool,
    call: (input, context) =>
      tool.call(input, {
        ...context,
        require: async (effects) => {
          if (effects.some((effect) => effect.kind === 'fetch' && !isAllowed(effect.url, domains))) {
            onRefused();
            throw new ToolError(NOT_ALLOWED.text);
          }
          await context.require(effects);
        },
      }),
  });
  return {
    ...offer,
    find: (name) => {
      const tool = offer.find(name);
      return tool === undefined ? undefined : limit(tool);
    },
  };
}

/** What such tools did before, in words. */
function readable(message: Message): Message {
  if (!message.content.some((block) => block.type === 'opaque')) return message;
  const content = message.content.flatMap((block): Block[] =>
    isOpaque(block) ? readableBlock(block) : [block],
  );
  return { ...message, content };
}

function isOpaque(block: Block): block is OpaqueBlock {
  return block.type === 'opaque';
}
