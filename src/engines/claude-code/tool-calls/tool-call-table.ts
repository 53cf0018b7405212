/** The tool calls of the message that Claude Code works on, and those of them that wait for the client. */
import type { ToolResultBlock, ToolUseBlock } from '../../../core/conversation.js';
import { onAbort } from '../../../core/stopping.js';
import type { ToolOwner } from './tool-plan.js';

export interface KnownToolCall {
  /** As Claude Code knows it; the block has the id that the conversation knows. */
  wireId: string;
  block: ToolUseBlock;
  owner: ToolOwner | undefined;
  /** Why it must not run. */
  problem?: string | undefined;
  /** `asked`: only a person's decision keeps it from running. */
  state: 'new' | 'begun' | 'asked' | 'ended';
}

/**
 * Claude Code begins with calls while their message is still being written; a decision about one waits
 * here until the message is whole and stored.
 */
export class ToolCallTable {
  #calls: readonly KnownToolCall[] = [];
  readonly #byWireId = new Map<string, KnownToolCall>();
  readonly #waiting = new Map<string, ((call: KnownToolCall | undefined) => void)[]>();
  readonly #results = new Map<string, ToolResultBlock>();
  /** The result as the runner of the call gave it, before Claude Code rewords it. */
  readonly #given = new Map<string, ToolResultBlock>();
  /** Of calls that Claude Code refused while their message was still being written. */
  readonly #early = new Map<string, ToolResultBlock>();
  #closed = false;

  /** Of the last message. */
  get all(): readonly KnownToolCall[] {
    return this.#calls;
  }

  /** By the conversation's ids. */
  get results(): ReadonlyMap<string, ToolResultBlock> {
    return this.#results;
  }

  /** A message is whole and kept. */
  announce(calls: readonly KnownToolCall[]): void {
    this.#calls = calls;
    this.#byWireId.clear();
    this.#results.clear();
    this.#given.clear();
    for (const call of calls) {
      this.#byWireId.set(call.wireId, call);
      for (const resolve of this.#waiting.get(call.wireId) ?? []) resolve(call);
      this.#waiting.delete(call.wireId);
    }
    const early = [...this.#early.values()];
    this.#early.clear();
    for (const result of early) if (this.#byWireId.has(result.toolUseId)) this.end(result);
  }

  /** Undefined where there will be no such message. */
  async find(wireId: string): Promise<KnownToolCall | undefined> {
    const known = this.#byWireId.get(wireId);
    if (known !== undefined || this.#closed) return known;
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(wireId) ?? [];
      waiting.push(resolve);
      this.#waiting.set(wireId, waiting);
    });
  }

  /** Undefined for what is not of the last message. */
  peek(wireId: string): KnownToolCall | undefined {
    return this.#byWireId.get(wireId);
  }

  give(result: ToolResultBlock): void {
    this.#given.set(result.toolUseId, result);
  }

  /** The result that Claude Code gives its model. Returns the call, where it is known. */
  end(result: ToolResultBlock): { call: KnownToolCall; result: ToolResultBlock } | undefined {
    const call = this.#byWireId.get(result.toolUseId);
    if (call === undefined) {
      this.#early.set(result.toolUseId, result);
      return undefined;
    }
    call.state = 'ended';
    const own = this.#given.get(call.block.id) ?? { ...result, toolUseId: call.block.id };
    this.#results.set(call.block.id, own);
    return { call, result: own };
  }

  missing(): KnownToolCall[] {
    return this.#calls.filter(({ block }) => !this.#results.has(block.id));
  }

  close(): void {
    this.#closed = true;
    for (const resolves of this.#waiting.values()) for (const resolve of resolves) resolve(undefined);
    this.#waiting.clear();
  }
}

/** Calls that the client runs: Claude Code waits for each of them, by its id. */
export class ClientToolCalls {
  readonly #waiting = new Map<string, (result: ToolResultBlock | undefined) => void>();
  /** Results that came before Claude Code asked: it runs some calls only after others. */
  readonly #early = new Map<string, ToolResultBlock>();
  #closed = false;

  /** Undefined when no result will come any more. */
  async wait(wireId: string, signal: AbortSignal): Promise<ToolResultBlock | undefined> {
    const early = this.#early.get(wireId);
    if (early !== undefined) {
      this.#early.delete(wireId);
      return early;
    }
    if (this.#closed || signal.aborted) return undefined;
    return new Promise((resolve) => {
      const release = onAbort(signal, () => this.#settle(wireId, undefined));
      this.#waiting.set(wireId, (result) => {
        release();
        resolve(result);
      });
    });
  }

  deliver(wireId: string, result: ToolResultBlock): void {
    if (!this.#settle(wireId, result)) this.#early.set(wireId, result);
  }

  close(): void {
    this.#closed = true;
    for (const wireId of [...this.#waiting.keys()]) this.#settle(wireId, undefined);
    this.#early.clear();
  }

  #settle(wireId: string, result: ToolResultBlock | undefined): boolean {
    const resolve = this.#waiting.get(wireId);
    this.#waiting.delete(wireId);
    resolve?.(result);
    return resolve !== undefined;
  }
}
