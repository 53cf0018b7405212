/**
 * Which tools there are, and which of them a turn is offered. Sources are asked once, but for MCP
 * servers, whose tools come and go; whether a tool is on is asked at every offer.
 */
import type { ToolDefinition } from '../../core/conversation.js';
import { inputSchemaOf } from './parse-input.js';
import type { ListedTool, OfferRequest, RuntimeLog, ToolOffer, ToolSelection } from './runtime.js';
import type { Asker, Tool } from './tool.js';

type Named = Pick<Tool, 'name' | 'aliases'>;

/**
 * The selection is about the tools that the gateway has itself. Those of MCP servers come with
 * the server, unless a list names some of them: then only those.
 */
export function isSelected(
  { tool, origin }: { tool: Named; origin: ListedTool['source'] },
  selection: ToolSelection,
  requested: readonly string[],
): boolean {
  if (selection === 'all') return true;
  if (origin === 'mcp') {
    if (!Array.isArray(selection)) return true;
    const named = selection.filter((name) => name.startsWith('mcp__'));
    return named.length === 0 || named.some((name) => coversMcp(name, tool.name));
  }
  if (selection === 'none') return false;
  const names = selection === 'requested' ? requested : selection;
  return names.some((name) => hasName(tool, name));
}

/** `mcp__docs` is every tool of that server, as in a rule. */
function coversMcp(name: string, tool: string): boolean {
  return tool === name || tool.startsWith(`${name}__`);
}

function hasName(tool: Named, name: string): boolean {
  return tool.name === name || (tool.aliases?.includes(name) ?? false);
}

export type ToolOrigin = 'built-in' | 'own' | 'mcp';

export interface ToolSource {
  readonly source: ToolOrigin;
  /** `session` for the tools of MCP servers that are kept for each. */
  tools(session?: string): readonly Tool[] | Promise<readonly Tool[]>;
  /** What should have been a tool and is not, for people. Asked after `tools`. */
  problems?(): readonly ToolProblem[] | Promise<readonly ToolProblem[]>;
  /** Ends what was kept for the session. Never rejects. */
  closeSession?(session: string): Promise<void>;
}

export interface ToolProblem {
  /** A file, a package. */
  name: string;
  /** What is wrong and what to do, as a sentence. */
  reason: string;
}

interface ToolRegistry {
  offer(request: OfferRequest): Promise<ToolOffer>;
  list(asker?: Asker): Promise<readonly ListedTool[]>;
  /** A built-in by name or alias, also one that is off. */
  builtIn(name: string): Promise<Tool | undefined>;
}

interface RegistryOptions {
  sources: readonly ToolSource[];
  log: RuntimeLog;
  /** How long a tool may take to say whether it is on. */
  enablementMs?: number;
}

/** A tool of an earlier source has the name when two claim it. */
const PRECEDENCE: readonly ToolOrigin[] = ['built-in', 'own', 'mcp'];

const TAKEN_BY: Readonly<Record<ToolOrigin, string>> = {
  'built-in': 'a built-in tool',
  own: "another tool of the gateway's own folders",
  mcp: 'another tool of an MCP server',
};

const takenReason = (name: string, by: ToolOrigin): string =>
  `The name ${name} is taken by ${TAKEN_BY[by]}. Give it another name.`;

const ENABLEMENT_MS = 2_000;

interface Known {
  tool: Tool;
  origin: ToolOrigin;
  /** Who has the name, where it is not this one. */
  shadowedBy?: ToolOrigin;
}

interface State {
  enabled: boolean;
  reason?: string;
}

export function createRegistry(options: RegistryOptions): ToolRegistry {
  return new SourcedTools(options);
}

class SourcedTools implements ToolRegistry {
  readonly #sources: readonly ToolSource[];
  readonly #log: RuntimeLog;
  readonly #enablementMs: number;
  readonly #discovered = new Map<ToolSource, Promise<readonly Tool[]>>();
  readonly #warned = new Set<string>();

  constructor({ sources, log, enablementMs = ENABLEMENT_MS }: RegistryOptions) {
    this.#sources = PRECEDENCE.flatMap((origin) => sources.filter(({ source }) => source === origin));
    this.#log = log;
    this.#enablementMs = enablementMs;
  }

  async offer({ selection, requested, session, key, within: parent }: OfferRequest): Promise<ToolOffer> {
    const all = await this.#known(session);
    const selected = all.filter((entry) => isSelected(entry, selection, requested));
    if (Array.isArray(selection)) this.#warnOfUnknown(selection, all);
    const held = selected.filter(
      ({ tool }) => parent === undefined || parent.some((name) => hasName(tool, name)),
    );
    const off = new Map<Tool, string>();
    const offered = await Promise.all(
      held.map(async (entry) => {
        const asker = key === undefined ? {} : { key };
        const { enabled, reason = 'It is off.' } = await this.#stateOf(entry, asker);
        if (!enabled) {
          off.set(entry.tool, reason);
          return undefined;
        }
        const definition = await this.#define(entry);
        return definition === undefined ? undefined : { tool: entry.tool, definition };
      }),
    );
    return {
      ...toOffer(offered.filter((entry) => entry !== undefined)),
      whyOff: (name) => [...off].find(([tool]) => hasName(tool, name))?.[1],
    };
  }

  async list(asker: Asker = {}): Promise<ListedTool[]> {
    const all = await this.#known(undefined);
    const listed = await Promise.all(all.map((entry) => this.#listed(entry, asker)));
    const problems = await Promise.all(this.#sources.map(listedProblems));
    return [...listed, ...problems.flat()];
  }

  async builtIn(name: string): Promise<Tool | undefined> {
    const built = this.#sources.filter(({ source }) => source === 'built-in');
    const tools = (await Promise.all(built.map((source) => this.#ask(source, undefined)))).flat();
    return tools.find((tool) => tool.name === name) ?? tools.find((tool) => hasName(tool, name));
  }

  /** A source that fails has no tools; it is asked again next time. */
  async #ask(source: ToolSource, session: string | undefined): Promise<readonly Tool[]> {
    if (source.source === 'mcp') return source.tools(session);
    let found = this.#discovered.get(source);
    if (found === undefined) {
      found = Promise.resolve(source.tools());
      this.#discovered.set(source, found);
      found.catch(() => this.#discovered.delete(source));
    }
    return found;
  }

  async #known(session: string | undefined): Promise<Known[]> {
    const taken = new Map<string, ToolOrigin>();
    const all: Known[] = [];
    for (const source of this.#sources) {
      const tools = await this.#ask(source, session).catch((error: unknown) => {
        this.#log.error({ err: error, source: source.source }, 'tools could not be found');
        return [];
      });
      // Servers connect in any order; what the model is shown must not change with it.
      const sorted = source.source === 'mcp' ? tools.toSorted(byName) : tools;
      for (const tool of sorted) {
        const shadowedBy = taken.get(tool.name);
        all.push({ tool, origin: source.source, ...(shadowedBy === undefined ? {} : { shadowedBy }) });
        if (shadowedBy !== undefined) continue;
        taken.set(tool.name, source.source);
        for (const alias of tool.aliases ?? []) {
          if (!taken.has(alias)) taken.set(alias, source.source);
        }
      }
    }
    return all;
  }

  async #stateOf({ tool, shadowedBy }: Known, asker: Asker): Promise<State> {
    if (shadowedBy !== undefined) {
      const reason = takenReason(tool.name, shadowedBy);
      this.#warnOnce(`shadowed:${tool.name}`, { tool: tool.name }, reason);
      return { enabled: false, reason };
    }
    try {
      const { isEnabled = true } = tool;
      const asked = typeof isEnabled === 'function' ? isEnabled(asker) : isEnabled;
      const answer = asked instanceof Promise ? await within(this.#enablementMs, asked) : asked;
      if (answer === 'late') return { enabled: false, reason: 'It did not say in time whether it is on.' };
      if (answer === true) return { enabled: true };
      return { enabled: false, reason: answer === false ? 'It is off.' : answer.reason };
    } catch (error) {
      this.#log.error({ err: error, tool: tool.name }, 'a tool failed when asked whether it is on');
      return { enabled: false, reason: 'It failed when asked whether it is on; the log has the error.' };
    }
  }

  async #define({ tool }: Known): Promise<ToolDefinition | undefined> {
    try {
      const { description } = tool;
      return {
        name: tool.name,
        description: typeof description === 'function' ? await description() : description,
        inputSchema: inputSchemaOf(tool),
      };
    } catch (error) {
      this.#log.error({ err: error, tool: tool.name }, 'a tool could not be described and is left out');
      return undefined;
    }
  }

  async #listed(entry: Known, asker: Asker): Promise<ListedTool> {
    const { tool, origin } = entry;
    const [state, definition] = await Promise.all([this.#stateOf(entry, asker), this.#define(entry)]);
    const server = origin === 'mcp' ? serverOf(tool.name) : undefined;
    return {
      name: tool.name,
      userFacingName: attempt(() => tool.userFacingName()) ?? tool.name,
      description: definition?.description ?? '',
      inputSchema: definition?.inputSchema ?? {},
      source: origin,
      ...(server === undefined ? {} : { server }),
      ...readOnlyOf(tool),
      ...(definition === undefined
        ? { enabled: false, reason: 'It could not be described; the log has the error.' }
        : state),
    };
  }

  #warnOfUnknown(names: readonly string[], all: readonly Known[]): void {
    for (const name of names) {
      if (all.some(({ tool }) => hasName(tool, name)) || name.startsWith('mcp__')) continue;
      this.#warnOnce(
        `unknown:${name}`,
        { tool: name },
        'the configuration offers a tool that does not exist',
      );
    }
  }

  #warnOnce(key: string, facts: object, message: string): void {
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.#log.warn(facts, message);
  }
}

/** What should have been a tool of the source and is not. */
async function listedProblems(origin: ToolSource): Promise<ListedTool[]> {
  const problems = (await origin.problems?.()) ?? [];
  return problems.map(({ name, reason }) => ({
    name,
    userFacingName: name,
    description: '',
    inputSchema: {},
    source: origin.source,
    enabled: false,
    reason,
  }));
}

/** An offer of exactly these. */
export function toOffer(entries: readonly { tool: Tool; definition: ToolDefinition }[]): ToolOffer {
  const names = new Map<string, Tool>();
  for (const { tool } of entries) {
    for (const alias of tool.aliases ?? []) if (!names.has(alias)) names.set(alias, tool);
  }
  for (const { tool } of entries) names.set(tool.name, tool);
  return {
    tools: entries.map(({ tool }) => tool),
    definitions: entries.map(({ definition }) => definition),
    find: (name) => names.get(name),
  };
}

/** A server's name has no `__`. */
function serverOf(name: string): string | undefined {
  return /^mcp__(.+?)__/.exec(name)?.[1];
}

/** Only where it is true or false of the tool whatever the input: most judge by their input. */
function readOnlyOf(tool: Tool): { readOnly?: boolean } {
  const readOnly = attempt(() => tool.isReadOnly({}));
  return typeof readOnly === 'boolean' ? { readOnly } : {};
}

function byName(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
    timer.unref();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
