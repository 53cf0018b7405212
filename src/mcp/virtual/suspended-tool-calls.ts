/**
 * Calls whose client was asked something and is to come back with the answer. They go on while no
 * connection waits for them; a client that does not come back ends them.
 */
import type { ToolRunEvent } from '../../tools/runtime/runtime.js';
import { type Kept, KeptByKey } from './kept-by-key.js';
import type { VirtualParts } from './mcp-scope.js';
import type { CallToolResult } from './sdk.js';

export type ToolCallEvent = Exclude<ToolRunEvent, { type: 'tool-result' }>;

/** What runs; it reports while it does. */
export type Work = (signal: AbortSignal, report: (event: ToolCallEvent) => void) => Promise<CallToolResult>;

/** `cancelled`: by its client, before it came to an end of its own. */
type Ended = { result: CallToolResult; cancelled: boolean } | { error: unknown };

type Followed =
  | { kind: 'done'; result: CallToolResult }
  /** A person is asked, and this client was not yet. */
  | { kind: 'asks'; approval: string };

export class SuspendedToolCalls {
  readonly #newId: VirtualParts['newId'];
  readonly #calls: KeptByKey<SuspendedToolCall>;

  constructor({ limits, log, newId }: Pick<VirtualParts, 'limits' | 'log' | 'newId'>) {
    this.#newId = newId;
    this.#calls = new KeptByKey<SuspendedToolCall>({
      most: limits.sessions,
      mostOfKey: limits.sessionsOfKey,
      idleMs: limits.idleMs,
      sweepMs: limits.sweepMs,
      words: { many: 'calls that wait for their client', remedy: 'Answer one' },
      log,
    });
  }

  /** `likeness`: what the client has to send again with its answer. */
  start(principal: string, likeness: string, work: Work): SuspendedToolCall {
    const id = this.#newId(principal);
    return this.#calls.add(id, principal, () => new SuspendedToolCall(id, principal, likeness, work));
  }

  find(id: string, principal: string): SuspendedToolCall | undefined {
    return this.#calls.find(id, principal);
  }

  forget(call: SuspendedToolCall): void {
    void this.#calls.end(call.id, undefined);
  }

  close(reason: unknown): Promise<void> {
    return this.#calls.endAll(reason);
  }
}

export class SuspendedToolCall implements Kept {
  usedAt = performance.now();
  readonly createdAt = new Date();
  updatedAt = this.createdAt;
  /** What it said last. */
  said: string | undefined;
  /** The approval that it waits for. */
  waitingFor: string | undefined;
  ended: Ended | undefined;
  #cancelled = false;
  readonly #control = new AbortController();
  readonly #done: Promise<CallToolResult>;
  readonly #listeners = new Set<(event: ToolCallEvent) => void>();
  /** What the client was asked about last, and the digest of what it was shown. */
  shown: { approval: string; digest: string } | undefined;
  /** Approvals that the client was asked about. */
  readonly #asked = new Set<string>();

  constructor(
    readonly id: string,
    readonly principal: string,
    readonly likeness: string,
    work: Work,
  ) {
    this.#done = work(this.#control.signal, (event) => {
      this.updatedAt = new Date();
      this.waitingFor = event.type === 'tool-waiting' ? event.approval : undefined;
      this.said = sentenceOf(event);
      for (const listener of this.#listeners) listener(event);
    });
    // A client that follows gets it; there may be none.
    this.#done.then(
      (result) => this.#end({ result, cancelled: this.#cancelled && wasAborted(result) }),
      (error: unknown) => this.#end({ error }),
    );
  }

  #end(ended: Ended): void {
    this.ended = ended;
    this.updatedAt = new Date();
    this.said = undefined;
  }

  /** Its client is there; `agoMs`: it counts as if that had been so long ago. */
  touch(agoMs = 0): void {
    this.usedAt = performance.now() - agoMs;
  }

  /** What has run by then has run, and its result stays. */
  cancel(): void {
    if (this.ended !== undefined) return;
    this.#cancelled = true;
    this.#control.abort(new DOMException('The client cancelled the task.', 'AbortError'));
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  /** Until it is done or asks. A signal that fires meanwhile ends the call. */
  async follow(signal: AbortSignal, report: (event: ToolCallEvent) => void): Promise<Followed> {
    const end = (): void => this.#control.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    let listener: ((event: ToolCallEvent) => void) | undefined;
    const asks = new Promise<Followed>((resolve) => {
      listener = (event) => {
        report(event);
        const approval = event.type === 'tool-waiting' ? event.approval : undefined;
        if (approval === undefined || this.#asked.has(approval)) return;
        this.#asked.add(approval);
        resolve({ kind: 'asks', approval });
      };
      this.#listeners.add(listener);
    });
    try {
      return await Promise.race([asks, this.#done.then((result) => ({ kind: 'done' as const, result }))]);
    } finally {
      signal.removeEventListener('abort', end);
      if (listener !== undefined) this.#listeners.delete(listener);
      this.usedAt = performance.now();
    }
  }

  async close(reason: unknown): Promise<void> {
    if (reason !== undefined) this.#control.abort(reason);
    await this.#done.catch(() => {});
  }
}

/** Lets a client distinguish a denial from a failure without reading the text. */
export const OUTCOME = 'toolgate/outcome';

const wasAborted = ({ _meta }: CallToolResult): boolean => _meta?.[OUTCOME] === 'aborted';

/** For a person who waits. */
export function sentenceOf(event: ToolCallEvent): string {
  if (event.type === 'tool-progress') return event.content;
  return event.type === 'tool-start' ? event.describe.title : `Waiting for approval: ${event.describe.title}`;
}
