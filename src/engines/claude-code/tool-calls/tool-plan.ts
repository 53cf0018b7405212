/**
 * The tools of one conversation and who runs them: Claude Code itself, the gateway, or the client.
 * Claude Code knows the last two as tools of MCP servers; every other part by their plain names. So does
 * its model, as far as the gateway runs them: they are those that it knows from Claude Code.
 */
import type { JsonObject, Message, ToolChoice, ToolDefinition } from '../../../core/conversation.js';
import { compactionAsText } from '../../../dialects/shared/compaction.js';
import type { Toolbox } from '../../agent/toolbox.js';

/** The server that the client's tools and the gateway's own are served by. */
const GATEWAY_SERVER = 'gateway';

interface ClaudeTool {
  /** The name in Claude Code's list of tools. */
  option: string;
  /** The name that its model calls, where that is another. */
  name?: string;
  /**
   * The gateway's to run where there is a wall around commands. Claude Code opens a path some time after
   * it was judged, and a command can put a link in its place meanwhile; the gateway opens what was judged.
   */
  behindWall?: true;
}

/**
 * Built-ins that Claude Code brings and runs itself. Not Glob and Grep: a search goes through files that
 * were not named, and only the gateway's own leaves out what the rules keep from being read. Not
 * NotebookEdit: Claude Code has nothing that goes with NotebookRead.
 */
const CLAUDE_TOOLS: Readonly<Record<string, ClaudeTool>> = {
  Read: { option: 'Read', behindWall: true },
  Write: { option: 'Write', behindWall: true },
  Edit: { option: 'Edit', behindWall: true },
  Bash: { option: 'Bash', behindWall: true },
  Task: { option: 'Task', name: 'Agent' },
  TodoWrite: { option: 'TodoWrite' },
  AskUserQuestion: { option: 'AskUserQuestion' },
};

/** About commands in the background, which Claude Code's Bash does not run here: its answers end with its turns. */
const BACKGROUND: ReadonlySet<string> = new Set(['BashOutput', 'KillShell']);

/** Of those that the gateway runs: they may overlap with others. */
const READS_ONLY: ReadonlySet<string> = new Set([
  'Glob',
  'Grep',
  'LS',
  'NotebookRead',
  'TodoRead',
  'Think',
  'MemoryRead',
  'WebFetch',
  'WebSearch',
]);

export type ToolOwner = 'claude' | 'gateway' | 'client';

export interface ServedTool {
  owner: Exclude<ToolOwner, 'claude'>;
  /** The name outside of Claude Code. */
  plain: string;
  /** Within its server. */
  name: string;
  description: string;
  /** As it was given. */
  inputSchema: JsonObject;
  readOnly: boolean;
}

export interface ToolPlan {
  /** Claude Code's own tools that are on, as its option names them. */
  readonly claude: readonly string[];
  /** The rest, by the MCP server that serves them. */
  readonly servers: ReadonlyMap<string, readonly ServedTool[]>;
  /** Undefined where no one runs a tool of this name. */
  ownerOf(name: string): ToolOwner | undefined;
  served(server: string, name: string): ServedTool | undefined;
  /** The plain name of what Claude Code calls. */
  plain(name: string): string;
  claudeName(plain: string): string;
  /** The name that the model is shown for Claude Code's; and back, from any name of the tool. */
  toModel(name: string): string;
  fromModel(name: string): string;
  /** The choice in names that the model knows. */
  choice(choice: ToolChoice | undefined): ToolChoice | undefined;
  /** Equal for two conversations whose processes could be the same. */
  readonly compatibility: string;
}

const NO_INPUT: JsonObject = { type: 'object', properties: {} };

/** `walled`: commands must not run outside of the sandbox. */
export function planTools(toolbox: Toolbox, { walled }: { walled: boolean }): ToolPlan {
  const builder = new PlanBuilder();
  for (const definition of toolbox.definitions) {
    const own = CLAUDE_TOOLS[definition.name];
    if (toolbox.isClients(definition.name)) builder.serve(definition, 'client');
    else if (own !== undefined && !(walled && own.behindWall)) builder.claude(definition.name, own);
    else if (walled || !BACKGROUND.has(definition.name)) builder.serve(definition, 'gateway');
  }
  return builder.plan(toolbox);
}

/** In the names that Claude Code's model knows. */
export function claudeMessages(messages: readonly Message[], plan: ToolPlan): Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant') return message;
    return {
      ...message,
      content: message.content.map((block) =>
        block.type === 'tool_use' ? { ...block, name: plan.claudeName(block.name) } : compactionAsText(block),
      ),
    };
  });
}

class PlanBuilder {
  readonly #options: string[] = [];
  readonly #servers = new Map<string, ServedTool[]>();
  readonly #owners = new Map<string, ToolOwner>();
  readonly #plain = new Map<string, string>();
  readonly #claudeNames = new Map<string, string>();

  claude(plain: string, { option, name = plain }: ClaudeTool): void {
    this.#options.push(option);
    this.#name(plain, name, 'claude');
  }

  serve(definition: ToolDefinition, owner: ServedTool['owner']): void {
    const plain = definition.name;
    const [server, given] = owner === 'client' ? [GATEWAY_SERVER, plain] : placeOf(plain);
    const name = this.#free(server, fitName(given));
    const tools = this.#servers.get(server) ?? [];
    this.#servers.set(server, tools);
    tools.push({
      owner,
      plain,
      name,
      description: definition.description ?? '',
      inputSchema: definition.inputSchema ?? NO_INPUT,
      // Calls that wait for the client must not keep others from running.
      readOnly: owner === 'client' || READS_ONLY.has(plain),
    });
    this.#name(plain, mcpName(server, name), owner);
  }

  plan(toolbox: Toolbox): ToolPlan {
    const claude = this.#options;
    const servers = this.#servers;
    const owners = this.#owners;
    const plains = this.#plain;
    const claudeNames = this.#claudeNames;
    const shown = new Map<string, string>();
    const heard = new Map<string, string>();
    for (const { owner, name } of servers.get(GATEWAY_SERVER) ?? []) {
      // A tool of Claude Code's own cannot be hidden by another.
      if (owner !== 'gateway' || owners.has(name)) continue;
      shown.set(mcpName(GATEWAY_SERVER, name), name);
      heard.set(name, mcpName(GATEWAY_SERVER, name));
    }
    const claudeName = (plain: string): string => claudeNames.get(plain) ?? plain;
    /** `Task` is Claude Code's `Agent`; other built-ins have several names as well. */
    const aliased = (name: string): string => {
      const plain = toolbox.offer.find(name)?.name;
      return plain === undefined || toolbox.isClients(plain) ? name : (claudeNames.get(plain) ?? name);
    };
    return {
      claude,
      servers,
      ownerOf: (name) => owners.get(name),
      served: (server, name) => servers.get(server)?.find((tool) => tool.name === name),
      plain: (name) => plains.get(name) ?? name,
      claudeName,
      toModel: (name) => shown.get(name) ?? name,
      fromModel: (name) => heard.get(name) ?? (owners.has(name) ? name : aliased(name)),
      choice(choice) {
        const known = toolbox.choice(choice);
        return known?.type === 'tool' ? { type: 'tool', name: claudeName(known.name) } : known;
      },
      compatibility: JSON.stringify([claude, [...servers]]),
    };
  }

  #name(plain: string, name: string, owner: ToolOwner): void {
    this.#owners.set(name, owner);
    this.#plain.set(name, plain);
    this.#claudeNames.set(plain, name);
  }

  #free(server: string, name: string): string {
    let free = name;
    for (let copy = 2; this.#owners.has(mcpName(server, free)); copy += 1) free = `${name}_${copy}`;
    return free;
  }
}

/** Of a tool that the gateway runs: those of a configured MCP server keep its name. */
function placeOf(plain: string): [string, string] {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(plain) ?? [];
  return server === undefined || name === undefined ? [GATEWAY_SERVER, plain] : [server, name];
}

function mcpName(server: string, name: string): string {
  return `mcp__${server}__${name}`;
}

/** Claude Code puts the same in the place of what it does not take. */
function fitName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_');
}
