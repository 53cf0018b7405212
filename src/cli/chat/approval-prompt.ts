/** The person at the terminal answers what the agent asks, one card after the other. */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import type {
  Approval,
  ApprovalCoordinator,
  ApprovalEvent,
  PersonAnswer,
} from '../../permissions/approvals.js';
import type { Question } from '../../permissions/gate.js';
import { type Card, type Choice, cardText, readCard, readChoice } from './approval-card.js';
import { indent, type Paint, plain, plainLine } from './render.js';
import type { ChatTerminal } from './terminal.js';

interface ApprovalPromptOptions {
  coordinator: Pick<ApprovalCoordinator, 'subscribe' | 'attend' | 'decide'>;
  terminal: ChatTerminal;
  paint: Paint;
  /** Who decides. */
  by: string;
  /** Resolves when a card has stood there long enough to be read: what is typed sooner was meant for something else. */
  readable?: () => Promise<unknown>;
}

const READING_MS = 400;

export class ApprovalPrompt {
  readonly #options: ApprovalPromptOptions;
  readonly #stop: (() => void)[];
  readonly #queue: Approval[] = [];
  /** Cards that were answered elsewhere while they stood here. */
  readonly #open = new Map<string, AbortController>();
  #asking: Promise<void> | undefined;
  /** The card whose answer is on its way: its own `resolved` is no news. */
  #deciding: string | undefined;

  constructor(options: ApprovalPromptOptions) {
    this.#options = options;
    this.#stop = [
      options.coordinator.subscribe((event) => this.#onEvent(event)),
      options.coordinator.attend(undefined),
    ];
  }

  /** Nobody is here any more. */
  close(): void {
    for (const stop of this.#stop) stop();
    for (const controller of this.#open.values()) controller.abort();
    this.#queue.length = 0;
  }

  #onEvent({ type, approval }: ApprovalEvent): void {
    if (type === 'requested') {
      this.#queue.push(approval);
      this.#asking ??= this.#askAll().finally(() => {
        this.#asking = undefined;
      });
    } else if (type === 'resolved') {
      const waiting = this.#queue.findIndex(({ id }) => id === approval.id);
      if (waiting !== -1) this.#queue.splice(waiting, 1);
      const controller = this.#open.get(approval.id);
      if (controller === undefined || this.#deciding === approval.id) return;
      controller.abort();
      this.#say(howItEnded(approval));
    }
  }

  async #askAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const controller = new AbortController();
      this.#open.set(next.id, controller);
      try {
        await this.#askOne(readCard(next), controller.signal);
      } finally {
        this.#open.delete(next.id);
      }
    }
  }

  async #askOne(card: Card, signal: AbortSignal): Promise<void> {
    const { terminal, paint } = this.#options;
    const { questions } = card.describe;
    if (questions !== undefined && questions.length > 0) return this.#askQuestions(card, questions, signal);
    terminal.write(cardText(card, paint));
    for (;;) {
      const line = await this.#line('  your answer > ', signal);
      if (signal.aborted) return;
      const choice: Choice =
        line === undefined ? { kind: 'deny', reason: 'the terminal was closed' } : readChoice(line, card);
      const problem = await this.#act(card, choice, signal);
      if (problem === undefined) return;
      this.#say(problem);
    }
  }

  /** What keeps the answer from being taken; undefined once the card is done with. */
  async #act(card: Card, choice: Choice, signal: AbortSignal): Promise<string | undefined> {
    switch (choice.kind) {
      case 'unclear':
        return choice.problem;
      case 'allow':
        return this.#decide(card, { decision: 'allow' });
      case 'always':
        return this.#decide(card, { decision: 'allow', rule: { rule: choice.rule, scope: choice.scope } });
      case 'deny':
        return this.#decide(card, {
          decision: 'deny',
          ...(choice.reason === undefined ? {} : { reason: choice.reason }),
        });
      case 'edit':
        return this.#edit(card, signal);
    }
  }

  async #edit(card: Card, signal: AbortSignal): Promise<string | undefined> {
    const line = await this.#options.terminal.ask('  input: ', {
      signal,
      prefill: JSON.stringify(card.approval.input),
      remember: false,
    });
    if (line === undefined) return signal.aborted ? undefined : 'Nothing was changed.';
    let updatedInput: unknown;
    try {
      updatedInput = JSON.parse(line);
    } catch (error) {
      return `That is not JSON (${error instanceof Error ? error.message : 'it cannot be read'}). Nothing was decided.`;
    }
    return this.#decide(card, { decision: 'allow', updatedInput });
  }

  async #askQuestions(card: Card, questions: readonly Question[], signal: AbortSignal): Promise<void> {
    const { terminal, paint } = this.#options;
    const asked = askedIn(card.approval.input);
    const answers: Record<string, string> = {};
    for (const [index, { question, options, multiSelect }] of questions.entries()) {
      terminal.write(`\n${paint('yellow', '?')} ${paint('bold', plain(question))}\n`);
      terminal.write(
        indent(
          options.map(({ label, description }, at) => {
            const more = description === undefined ? '' : paint('dim', `  ${plainLine(description)}`);
            return `${paint('cyan', String(at + 1))}  ${plain(label)}${more}`;
          }),
          '  ',
        ),
      );
      const several = multiSelect === true ? ', several with commas' : '';
      const line = await this.#line(`  number${several}, or words of your own > `, signal);
      if (signal.aborted) return;
      if (line === undefined) {
        await this.#decide(card, { decision: 'deny', reason: 'the terminal was closed' });
        return;
      }
      // What is shown has hidden characters written out; the answer belongs to the text itself.
      const exact = asked[index];
      answers[exact?.question ?? question] = readAnswer(line, exact?.options ?? options);
    }
    const input = card.approval.input;
    const updatedInput = { ...(typeof input === 'object' && input !== null ? input : {}), answers };
    const problem = await this.#decide(card, { decision: 'allow', updatedInput });
    if (problem === undefined) return;
    this.#say(problem);
    await this.#decide(card, { decision: 'deny', reason: `the answers could not be taken: ${problem}` });
  }

  /** A line that was typed after the card could be read. */
  async #line(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const { terminal, readable = () => setTimeout(READING_MS) } = this.#options;
    await readable();
    return terminal.ask(prompt, { signal, fresh: true, remember: false });
  }

  async #decide(
    { approval }: Card,
    answer: Omit<PersonAnswer, 'digest' | 'by' | 'via'>,
  ): Promise<string | undefined> {
    const { coordinator, by } = this.#options;
    this.#deciding = approval.id;
    const result = await coordinator
      .decide(approval.id, { ...answer, digest: approval.digest, by, via: 'terminal' })
      .finally(() => {
        this.#deciding = undefined;
      });
    switch (result.outcome) {
      case 'decided':
        for (const { rule, scope } of result.rules) this.#say(`Rule made: ${rule} (${scope})`);
        if (result.satisfies?.satisfied === false) {
          this.#say(`The rule alone would not have allowed this: ${result.satisfies.why}`);
        }
        return undefined;
      case 'invalid':
        return result.problem;
      case 'mismatch':
        return 'What is asked has changed since it was shown. Nothing was decided.';
      case 'already':
      case 'expired':
        this.#say(howItEnded(result.approval));
        return undefined;
      case 'unknown':
        this.#say('This is not asked any more.');
        return undefined;
    }
  }

  #say(text: string): void {
    const { terminal, paint } = this.#options;
    terminal.write(`  ${paint('dim', plainLine(text, 400))}\n`);
  }
}

const questionsInput = z.looseObject({
  questions: z.array(
    z.looseObject({ question: z.string(), options: z.array(z.looseObject({ label: z.string() })) }),
  ),
});

/** The questions as the call has them. */
function askedIn(input: unknown): z.output<typeof questionsInput>['questions'] {
  return questionsInput.safeParse(input).data?.questions ?? [];
}

function readAnswer(line: string, options: readonly { label: string }[]): string {
  const parts = line.split(',').map((part) => part.trim());
  const labels = parts.map((part) => (/^\d+$/.test(part) ? options[Number(part) - 1]?.label : undefined));
  const known = labels.filter((label) => label !== undefined);
  return known.length === parts.length ? known.join(', ') : line.trim();
}

function howItEnded({ state, decision }: Approval): string {
  const who = decision === undefined ? '' : ` by ${decision.by} (${decision.via})`;
  switch (state) {
    case 'allowed':
      return `Allowed${who}.`;
    case 'denied':
      return `Denied${who}.`;
    case 'covered':
      return `Allowed by a rule made meanwhile: ${decision?.rule ?? ''}`;
    case 'expired':
      return 'Nobody answered in time.';
    case 'cancelled':
      return 'Cancelled: the agent stopped.';
    case 'pending':
      return 'Still waiting.';
  }
}
