/**
 * A conversation as the page draws it. The same parts come from a transcript that was fetched and
 * from the events of a turn that runs, so that a reload shows what was there before it.
 */
import type { BlockWire, TokenCounts } from '../../../../src/activity/wire.js';

export type Part = UserPart | TextPart | ThinkingPart | MediaPart | ToolPart | NotePart;

/** Stable for as long as the part is there, in whichever form it came. */
interface PartBase {
  key: string;
}

export interface UserPart extends PartBase {
  kind: 'user';
  /** Which turn it begins, from 0; undefined while it is not written yet. */
  turn: number | undefined;
  content: readonly BlockWire[];
}

export interface TextPart extends PartBase {
  kind: 'text';
  text: string;
  /** More of it may come. */
  streaming: boolean;
}

export interface ThinkingPart extends PartBase {
  kind: 'thinking';
  text: string;
  streaming: boolean;
  redacted: boolean;
}

export type MediaBlock = Extract<BlockWire, { type: 'image' | 'document' }>;

/** Pictures and documents of an answer itself. */
export interface MediaPart extends PartBase {
  kind: 'media';
  content: readonly MediaBlock[];
}

export interface ToolPart extends PartBase {
  kind: 'tool';
  card: ToolCard;
}

/** Something worth a line: summed up, cut short, failed, stopped, interrupted. */
export interface NotePart extends PartBase {
  kind: 'note';
  note:
    | { type: 'compacted'; before: number; after: number }
    | { type: 'max-turns'; turns: number }
    | { type: 'stopped' }
    | { type: 'interrupted' }
    | { type: 'failed'; message: string }
    | { type: 'cut-short'; reason: string };
}

/**
 * `pending`: its arguments are still coming, or it has not begun. `waiting`: for a person.
 * `handed-back`: the client that asked has to run it. `unknown`: it is not known whether it ran.
 */
export type CardState =
  | 'pending'
  | 'waiting'
  | 'running'
  | 'success'
  | 'error'
  | 'denied'
  | 'expired'
  | 'cancelled'
  | 'handed-back'
  | 'unknown';

export interface ToolCard {
  id: string;
  name: string;
  state: CardState;
  /** The JSON text of the arguments as far as it came; empty once `input` is there. */
  inputText: string;
  /** Whole arguments. */
  input: unknown;
  /** From the gateway, once it looked at the call. */
  title: string | undefined;
  kind: string | undefined;
  command: string | undefined;
  diff: string | undefined;
  progress: string | undefined;
  result: readonly BlockWire[] | undefined;
  /** The text of the result with its terminal codes, where it was watched. */
  shown: string | undefined;
  truncated: boolean;
  /** When it began to run and how long it took, by the gateway's clock. */
  startedAt: number | undefined;
  durationMs: number | undefined;
  /** The id of the question about it. */
  approval: string | undefined;
  /** Why it ran or did not. */
  because: string | undefined;
  /** What the sub-agent does that this call started. */
  agent: SubAgentView | undefined;
}

export interface SubAgentView {
  id: string;
  label: string;
  parts: readonly Part[];
  /** Undefined while it works. */
  ended: { turns: number; usage: TokenCounts; cutShort: string | undefined } | undefined;
}
