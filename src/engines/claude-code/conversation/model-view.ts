/**
 * What the model behind Claude Code sees of what the gateway serves to it. Claude Code knows these
 * tools as those of an MCP server and sends their results in the shape of that protocol; models
 * know the tools by their plain names, and documents as documents. Claude Code's own prompt names
 * them plainly too.
 */
import type {
  Block,
  ConversationRequest,
  Message,
  ToolResultBlock,
  ToolResultContent,
} from '../../../core/conversation.js';
import type { ModelEvent } from '../../../core/events.js';
import type { SubAgents } from '../tool-calls/sub-agents.js';
import type { ToolPlan } from '../tool-calls/tool-plan.js';

type Names = Pick<ToolPlan, 'toModel' | 'fromModel' | 'ownerOf' | 'plain'>;

export class ModelView {
  readonly #plan: Names;
  readonly #agents: Pick<SubAgents, 'mayUse'>;
  /** What MCP has no shape for, by the id of the call. */
  readonly #documents = new Map<string, readonly ToolResultContent[]>();

  constructor(plan: Names, agents: Pick<SubAgents, 'mayUse'>) {
    this.#plan = plan;
    this.#agents = agents;
  }

  /** A result that Claude Code is about to get. */
  note(wireId: string, { content }: ToolResultBlock): void {
    if (content.some(({ type }) => type === 'document')) this.#documents.set(wireId, content);
  }

  /** `agentId`: the sub-agent that asks. */
  request(request: ConversationRequest, agentId: string | undefined): ConversationRequest {
    const { toModel } = this.#plan;
    const { tools, messages, toolChoice } = request;
    return {
      ...request,
      tools: tools
        .filter(({ name }) => this.#isFor(agentId, name))
        .map((tool) => ({ ...tool, name: toModel(tool.name) })),
      messages: messages.map((message) => this.#message(message)),
      ...(toolChoice?.type === 'tool'
        ? { toolChoice: { ...toolChoice, name: toModel(toolChoice.name) } }
        : {}),
    };
  }

  /** In Claude Code's names again. */
  events(batch: readonly ModelEvent[]): readonly ModelEvent[] {
    if (!batch.some((event) => event.type === 'tool' && event.name !== undefined)) return batch;
    return batch.map((event) =>
      event.type === 'tool' && event.name !== undefined
        ? { ...event, name: this.#plan.fromModel(event.name) }
        : event,
    );
  }

  #isFor(agentId: string | undefined, name: string): boolean {
    const owner = this.#plan.ownerOf(name);
    if (agentId === undefined || owner === undefined) return true;
    return this.#agents.mayUse(agentId, owner, this.#plan.plain(name));
  }

  #message(message: Message): Message {
    if (!message.content.some(({ type }) => type === 'tool_use' || type === 'tool_result')) return message;
    return { ...message, content: message.content.map((block) => this.#block(block)) };
  }

  #block(block: Block): Block {
    if (block.type === 'tool_use') return { ...block, name: this.#plan.toModel(block.name) };
    if (block.type !== 'tool_result') return block;
    const content = this.#documents.get(block.toolUseId);
    return content === undefined ? block : { ...block, content: [...content] };
  }
}
