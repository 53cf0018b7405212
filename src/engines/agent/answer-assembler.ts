/** What the client gets of the messages of a turn, with the separators between them, and what they cost. */
import { type Block, type DialectName, type Message, NO_USAGE, type Usage } from '../../core/conversation.js';
import { eventsOfBlocks, type ModelEvent } from '../../core/events.js';

export class AnswerAssembler {
  /** Everything so far, tool calls apart. */
  readonly said: Block[] = [];
  /** Between the texts of two messages. */
  readonly #separator: string;
  #headDue = true;
  #repeatDue = true;
  #breakDue: boolean;
  #textDue: boolean;

  /** `spoken`: messages from before the turn broke off, which are said again. `dialect`: the client's. */
  constructor(spoken: readonly Message[] = [], dialect?: DialectName) {
    // That dialect has one text for the whole answer.
    this.#separator = dialect === 'openai-chat' ? '\n\n' : '';
    for (const { role, content } of spoken) if (role === 'assistant') this.#add(content);
    this.#breakDue = this.said.length > 0;
    this.#textDue = this.#hasText();
  }

  /** `raw`: all events of a piece of a message; `events`: those of them that the client may see. */
  speak(events: readonly ModelEvent[], raw: readonly ModelEvent[]): ModelEvent[] {
    const out = [...events];
    if (this.#breakDue && out.some(({ type }) => type !== 'loss' && type !== 'ping')) {
      this.#breakDue = false;
      out.unshift({ type: 'break' });
    }
    const first = this.#textDue ? out.findIndex(({ type }) => type === 'text') : -1;
    if (first >= 0) {
      this.#textDue = false;
      if (this.#separator !== '') out.splice(first, 0, { type: 'text', text: this.#separator });
    }
    return [...this.#head(raw), ...this.repeat(), ...out];
  }

  /** What was said before the turn broke off, once. */
  repeat(): ModelEvent[] {
    if (!this.#repeatDue) return [];
    this.#repeatDue = false;
    return eventsOfBlocks(this.said);
  }

  /** A message is whole. */
  finish(content: readonly Block[]): void {
    this.#add(content);
    this.#headDue = false;
    this.#breakDue = true;
    this.#textDue = this.#hasText();
  }

  /** The prompt's tokens belong to the head of the answer, which is the first message's. */
  #head(raw: readonly ModelEvent[]): ModelEvent[] {
    const start = this.#headDue ? raw.find((event) => event.type === 'start') : undefined;
    if (start?.usage === undefined) return [];
    this.#headDue = false;
    return [{ type: 'start', usage: start.usage }];
  }

  #add(content: readonly Block[]): void {
    const spoken = content.filter(({ type }) => type !== 'tool_use');
    const first = this.#hasText() ? spoken.findIndex(({ type }) => type === 'text') : -1;
    for (const [index, block] of spoken.entries()) {
      const isNext = index === first && block.type === 'text';
      this.said.push(isNext ? { ...block, text: this.#separator + block.text } : block);
    }
  }

  #hasText(): boolean {
    return this.said.some(({ type }) => type === 'text');
  }
}

/** Tokens of all model requests for one answer, those of sub-agents included. */
export class UsageTally {
  readonly #parent: UsageTally | undefined;
  #total: Usage = { ...NO_USAGE };

  /** `parent`: what is spent by a sub-agent is thereby spent by its parent. */
  constructor(parent?: UsageTally) {
    this.#parent = parent;
  }

  add(usage: Usage): void {
    const { reasoningTokens: before } = this.#total;
    const reasoningTokens =
      before === undefined && usage.reasoningTokens === undefined
        ? undefined
        : (before ?? 0) + (usage.reasoningTokens ?? 0);
    this.#total = {
      inputTokens: this.#total.inputTokens + usage.inputTokens,
      outputTokens: this.#total.outputTokens + usage.outputTokens,
      cacheReadTokens: this.#total.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: this.#total.cacheWriteTokens + usage.cacheWriteTokens,
      ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    };
    this.#parent?.add(usage);
  }

  get total(): Usage {
    return this.#total;
  }
}
