/** One request of a message, with what was found in it. Spans count in the whole message. */
import type { Fact, FactKind } from './facts.js';
import type { Name } from './names.js';

export interface Ask {
  text: string;
  start: number;
  facts: readonly Fact[];
  names: readonly Name[];
  /** Stems of the tool's name: "echo hello" is a word for the tool `echo` and one for it to say. */
  toolWords?: ReadonlySet<string>;
  /** The message it stands in: what is not said here may be said there ("the weather and the time in Rome"). */
  message: Message;
}

export interface Message {
  text: string;
  facts: readonly Fact[];
  names: readonly Name[];
  circumstances: Circumstances;
}

/** What is known besides the message. */
export interface Circumstances {
  now: Date;
  /** The client's working folder, where its system prompt names one. */
  cwd: string | undefined;
  /** The text of an earlier result that "it" refers to. */
  material: string | undefined;
}

/** A value for a parameter, with the words it was taken from. */
export interface Candidate {
  text: string;
  start: number;
  end: number;
  value?: number;
  /** Named by the user for this, and not only the rest of the sentence. */
  sure: boolean;
  /** A quotation, which may be meant for another parameter as well. */
  weak?: boolean;
  /** Said in another part of the message. */
  isBorrowed?: boolean;
}

export function askOf(message: Message, start: number, end: number): Ask {
  const isInside = (span: { start: number; end: number }): boolean => span.start >= start && span.end <= end;
  return {
    text: message.text.slice(start, end),
    start,
    facts: message.facts.filter(isInside),
    names: message.names.filter(isInside),
    message,
  };
}

export function factsOf(ask: Ask, ...kinds: readonly FactKind[]): Fact[] {
  return kinds.flatMap((kind) => ask.facts.filter((fact) => fact.kind === kind));
}

/** The ask as wide as its message. */
export function widened(ask: Ask): Ask {
  return askOf(ask.message, 0, ask.message.text.length);
}
