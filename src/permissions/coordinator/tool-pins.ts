/**
 * Tools of MCP servers are pinned by what they say of themselves: an approval is for the tool that was
 * there, and a server can put another in its place under the same name. The first call under a rule
 * pins the tool for that rule, a person's answer pins it for the key that asked; what is neither is asked about.
 */
import { type McpStore, type NewToolPin, RULE_SUBJECT, type ToolPin } from '../../store/mcp.js';
import type { Decision, JudgedToolCall, Reason } from '../decision.js';
import { changesBetween } from '../tool-definition.js';

type DefinedToolCall = Pick<JudgedToolCall, 'principal' | 'tool'> & {
  definition?: JudgedToolCall['definition'] | undefined;
};
type RuleReason = Extract<Reason, { kind: 'rule' }>;

/** Pins that were found equal; beyond this many they are looked up again. */
const MAX_KNOWN = 10_000;

export class ToolPins {
  readonly #store: McpStore;
  /** Only what is approved: a change is looked up each time. */
  readonly #known = new Set<string>();

  constructor(store: McpStore) {
    this.#store = store;
  }

  /** The decision, or to ask where a rule allows a tool that has changed. `keep`: the first call pins. */
  async check(call: JudgedToolCall, decision: Decision, { keep }: { keep: boolean }): Promise<Decision> {
    const { because } = decision;
    const { definition, tool } = call;
    if (definition === undefined || decision.behaviour !== 'allow' || because.kind !== 'rule')
      return decision;
    const known = JSON.stringify([call.principal, subjectOf(because), tool, definition.digest]);
    if (this.#known.has(known)) return decision;
    const subject = subjectOf(because);
    const own = await this.#store.pin(keySubject(call), tool);
    const isOwn = own?.digest === definition.digest;
    // Nothing is pinned for the rule yet: what a person of this key allowed last says what the tool was.
    if (own !== undefined && !isOwn && (await this.#store.pin(subject, tool)) === undefined) {
      return changed(call, because, own);
    }
    const pinned = await this.#pinned(subject, call, keep);
    if (pinned !== undefined && pinned.digest !== definition.digest && !isOwn) {
      return changed(call, because, newer(pinned, own));
    }
    if (keep || pinned !== undefined) this.#remember(known);
    return decision;
  }

  /** A person was shown this call, and allowed it; `rules` are those that they made of it. */
  async approve(call: DefinedToolCall, rules: readonly { id: string }[] = []): Promise<void> {
    const subjects = [keySubject(call), ...rules.map(({ id }) => `${RULE_SUBJECT}${id}`)];
    for (const subject of subjects) {
      const pin = pinOf(subject, call);
      if (pin !== undefined) await this.#store.putPin(pin);
    }
  }

  async #pinned(subject: string, call: JudgedToolCall, keep: boolean): Promise<ToolPin | undefined> {
    const pin = keep ? pinOf(subject, call) : undefined;
    return pin === undefined ? this.#store.pin(subject, call.tool) : this.#store.keepPin(pin);
  }

  #remember(known: string): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(known);
  }
}

function pinOf(subject: string, { tool, definition }: DefinedToolCall): NewToolPin | undefined {
  return definition && { subject, tool, digest: definition.digest, summary: definition.summary };
}

/** Keys answer for themselves alone. */
const keySubject = ({ principal }: DefinedToolCall): string => `key:${principal}`;

const subjectOf = ({ id, source, rule }: RuleReason): string =>
  id === undefined ? `${source}:${rule}` : `${RULE_SUBJECT}${id}`;

const newer = (one: ToolPin, other: ToolPin | undefined): ToolPin =>
  other !== undefined && other.pinnedAt > one.pinnedAt ? other : one;

function changed(call: JudgedToolCall, { rule }: RuleReason, pin: ToolPin): Decision {
  const what = call.definition === undefined ? '' : changesBetween(pin.summary, call.definition.summary);
  const since = new Date(pin.pinnedAt).toISOString().slice(0, 10);
  return {
    behaviour: 'ask',
    because: { kind: 'changed', tool: call.tool, rule },
    message: `The rule ${JSON.stringify(rule)} allows ${call.tool}, but its server has changed the tool since it was approved (${since}): ${what}.`,
    suggestions: [],
  };
}
