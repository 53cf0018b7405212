/** What a person is shown, as it stands in the store: the tool's own account, why it is asked, and where. */
import type { Decision, ToolCallLocation } from '../decision.js';
import type { Description, GatedToolCall } from '../gate.js';
import { type AskHints, readHints } from '../hints.js';
import { FACTS_CHARS, factsOf } from '../rules/tool-call-facts.js';

/** The description's own fields, and these beside them. */
type Shown = Description & { asked: Asked };

interface Asked {
  /** One sentence: what in the rules, and about which part of the input. */
  why: string;
  place: ToolCallLocation;
  question: boolean;
  /** How the engine wants it to be put. */
  hints: AskHints;
  /** What it is judged by: rules can be tried on it after a restart too. Not there for huge ones. */
  call?: unknown;
}

const MAY_HAVE_RUN =
  'It was allowed before and had begun when the gateway stopped, so it may have done its work already.';

export function toShown(call: GatedToolCall, decision: Decision, mayHaveRun: boolean): Shown {
  const { root, cwd } = call.location;
  const why = mayHaveRun ? `${decision.message} ${MAY_HAVE_RUN}` : decision.message;
  const { question = false, hints = {} } = call;
  const facts = factsOf(call, FACTS_CHARS.question);
  return {
    ...call.describe,
    asked: { why, place: { root, cwd }, question, hints, ...(facts === undefined ? {} : { call: facts }) },
  };
}

/** Rows are JSON that this module wrote; what is missing reads as nothing. */
export function readAsked(describe: unknown): Asked {
  const asked = field(describe, 'asked');
  const place = field(asked, 'place');
  return {
    why: text(asked, 'why'),
    place: { root: text(place, 'root'), cwd: text(place, 'cwd') },
    question: field(asked, 'question') === true,
    hints: readHints(field(asked, 'hints')),
    call: field(asked, 'call'),
  };
}

/** The tool's own account alone. */
export function withoutAsked(describe: unknown): unknown {
  if (typeof describe !== 'object' || describe === null) return describe;
  return Object.fromEntries(Object.entries(describe).filter(([key]) => key !== 'asked'));
}

function text(value: unknown, key: string): string {
  const found = field(value, key);
  return typeof found === 'string' ? found : '';
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}
