/** The calls of one message that wait for the client, and what has come of them so far. */
import type { Block, Message, ToolResultBlock, ToolUseBlock } from '../../../core/conversation.js';
import { errorResult } from '../../agent/server-calls.js';

const WENT_ON = 'No result: the user went on without running this call.';

export class PendingCalls {
  readonly calls: readonly ToolUseBlock[];
  readonly #clients: ReadonlyMap<string, ToolUseBlock>;
  readonly #results: Map<string, ToolResultBlock>;
  /** What the user said beside results. */
  readonly #extra: Block[] = [];

  constructor(
    calls: readonly ToolUseBlock[],
    open: readonly ToolUseBlock[],
    results: ReadonlyMap<string, ToolResultBlock>,
  ) {
    this.calls = calls;
    this.#clients = new Map(open.map((call) => [call.id, call]));
    this.#results = new Map(results);
  }

  /** The call was handed to the client, answered or not. */
  clientCall(id: string): ToolUseBlock | undefined {
    return this.#clients.get(id);
  }

  clientIds(): IterableIterator<string> {
    return this.#clients.keys();
  }

  open(): ToolUseBlock[] {
    return [...this.#clients.values()].filter(({ id }) => !this.#results.has(id));
  }

  /** The first result of a call counts; what else the messages say is kept for when all are there. */
  record(messages: readonly Message[]): void {
    for (const { role, content } of messages) {
      if (role !== 'user') continue;
      for (const block of content) {
        if (block.type !== 'tool_result') this.#keep(block);
        else if (this.#clients.has(block.toolUseId) && !this.#results.has(block.toolUseId)) {
          this.#results.set(block.toolUseId, block);
        }
      }
    }
  }

  /** A client that tells the whole again says the same again. */
  #keep(block: Block): void {
    const told = JSON.stringify(block);
    if (!this.#extra.some((each) => JSON.stringify(each) === told)) this.#extra.push(block);
  }

  /** One result for each call, in their order, and then whatever was said. */
  answer(): Message {
    const results = this.calls.map(({ id }) => this.#results.get(id) ?? errorResult(id, WENT_ON));
    return { role: 'user', content: [...results, ...this.#extra] };
  }
}
