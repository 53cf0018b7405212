/** The tools of one turn: those that run here, and those that the client runs. */
import type { ToolChoice, ToolDefinition, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { Loss } from '../../core/losses.js';
import type { ModelRoute, ModelRule } from '../../routing/model-router.js';
import type { Turn } from '../../sessions/sessions.js';
import type { OfferRequest, ToolOffer, ToolRuntime } from '../../tools/runtime/runtime.js';
import { deferTools, SEARCH_TOOL, searchTools } from '../tool-search/defer-tools.js';
import { serverOf } from '../tool-search/rank-tools.js';

export interface Toolbox {
  readonly offer: ToolOffer;
  /** For the model: the gateway's own first, so that the front of the prompt stays the same. */
  readonly definitions: readonly ToolDefinition[];
  /** The client has tools of its own. */
  readonly hasClients: boolean;
  /** Calls of this name go back to the client. */
  isClients(name: string): boolean;
  /** Answers the calls of the search, where tools are kept back; undefined for every other call. */
  search?(call: ToolUseBlock): ToolResultBlock | undefined;
  /** Tools of the client that are kept from the model. */
  readonly losses?: readonly Loss[];
  /** The choice in names that the model knows. Throws GatewayError for a tool that there is not. */
  choice(choice: ToolChoice | undefined): ToolChoice | undefined;
}

/** Why no tool call runs where the request forbids tools. */
export const NO_TOOLS = 'Not run: the user wants an answer without tools. Give it now.';

/**
 * What has to be called holds until it was: a tool for the first step, and any tool of the client's
 * own until one of them is called, whatever the agent does on its way there.
 */
export function choiceForStep(
  choice: ToolChoice | undefined,
  { hasClients }: Pick<Toolbox, 'hasClients'>,
  stepsSoFar: number,
): ToolChoice | undefined {
  const holds = choice?.type === 'none' || (choice?.type === 'any' && hasClients);
  return holds || stepsSoFar === 0 ? choice : undefined;
}

/**
 * A client's tool whose name is one of the offered means that one, and is not handed back. A typed
 * tool is the client's whatever it is called: its type says who runs it.
 */
export async function openToolbox(
  runtime: ToolRuntime,
  request: OfferRequest,
  clientTools: readonly ToolDefinition[],
): Promise<Toolbox> {
  const offer = await runtime.offer(request);
  const own = new Map<string, ToolDefinition>();
  for (const tool of clientTools) {
    const isOwn = tool.typed !== undefined || offer.find(tool.name) === undefined;
    if (isOwn && !own.has(tool.name)) own.set(tool.name, tool);
  }
  return {
    offer,
    definitions: [...offer.definitions.filter(({ name }) => !own.has(name)), ...own.values()],
    hasClients: own.size > 0,
    isClients: (name) => own.has(name),
    choice(choice) {
      if (choice?.type !== 'tool' || own.has(choice.name)) return choice;
      const name = offer.find(choice.name)?.name;
      if (name !== undefined) return { type: 'tool', name };
      throw new GatewayError(
        'invalid_request',
        `tool_choice names the tool ${JSON.stringify(choice.name.slice(0, 100))}, which is neither in the request's tools nor one that this model is offered here. Add it to tools, or choose another.`,
        { param: 'tool_choice' },
      );
    },
  };
}

/** The same tools, where there are more than fit: the gateway's own stay, the others are found by a search. */
export function withToolSearch(toolbox: Toolbox, rule: ModelRule): Toolbox {
  const { offer, definitions } = toolbox;
  const stays = ({ name }: ToolDefinition) =>
    !toolbox.isClients(name) && serverOf(name) === undefined && offer.find(name) !== undefined;
  const deferral = deferTools(definitions, { rule, stays });
  if (deferral === undefined) return toolbox;
  const { tools, deferred } = deferral;
  return {
    ...toolbox,
    definitions: tools,
    search: (call) => (call.name === SEARCH_TOOL ? searchTools(call, deferred) : undefined),
  };
}

/** `key`: the name of the caller's. `turn`: whose rules hold; none where only tokens are counted. */
export async function toolboxOf(
  runtime: ToolRuntime,
  { rule }: ModelRoute,
  clientTools: readonly ToolDefinition[],
  key: string,
  turn?: Pick<Turn, 'id' | 'principal' | 'root'>,
): Promise<Toolbox> {
  const request = {
    selection: rule.tools ?? 'all',
    requested: clientTools.flatMap(({ name, typed }) => (typed === undefined ? [name] : [])),
    key,
    ...(turn === undefined ? {} : { session: turn.id }),
  };
  const denied = turn === undefined ? new Map<string, string>() : await deniedBy(runtime, clientTools, turn);
  const allowed = clientTools.filter(({ name }) => !denied.has(name));
  return { ...(await openToolbox(runtime, request, allowed)), losses: lossesOf(denied) };
}

/**
 * Names of tools that a rule denies whatever their input is, with the rule. What a client's tool does
 * is not known here, so that a rule can only be about all of it; whether it is run is the client's to ask.
 */
async function deniedBy(
  { gate }: ToolRuntime,
  tools: readonly ToolDefinition[],
  { id, principal, root }: Pick<Turn, 'id' | 'principal' | 'root'>,
): Promise<Map<string, string>> {
  const denied = new Map<string, string>();
  for (const { name } of tools) {
    const { behaviour, because } = await gate.judge({
      principal,
      session: id,
      toolUseId: '',
      tool: name,
      input: {},
      readOnly: true,
      needsPermissions: false,
      effects: [],
      location: { root, cwd: root },
    });
    if (behaviour === 'deny' && because.kind === 'rule') denied.set(name, because.rule);
  }
  return denied;
}

function lossesOf(denied: ReadonlyMap<string, string>): Loss[] {
  return [...denied].map(([name, rule]) => ({ path: 'tools', reason: `the rule ${rule} denies ${name}` }));
}
