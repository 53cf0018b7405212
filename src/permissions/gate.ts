/**
 * The one place where a tool call is let through or not, whichever engine makes it: rules first,
 * then a person where the rules say `ask`. Every verdict is in the audit log.
 */
import type { SessionMode } from '../store/sessions.js';
import type { Decision, Effect, JudgedToolCall, Reason } from './decision.js';
import type { Form } from './form.js';

export interface PermissionGate {
  /**
   * Waits for a person if it must, without a watchdog of the caller's running. Rejects only for
   * bugs and a store that is down; an aborted signal cancels the question and denies.
   */
  check(call: GatedToolCall): Promise<Verdict>;
  /** Effects that came up while a call ran (the next hop of a redirect). Asks again where it must. */
  checkFurther(call: GatedToolCall): Promise<Verdict>;
  /** What the rules alone say; asks no person, writes nothing. */
  judge(call: JudgedToolCall): Promise<Decision>;
  /** Whether a file that a search came across may be shown. Cheap enough for every line of a result. */
  readable(location: JudgedToolCall['location'], session: string): Promise<(path: string) => boolean>;
  /**
   * Existing files and folders that commands must not be able to read. `own`: those of the gateway
   * too, which the sandbox hides by itself.
   */
  hidden(
    location: JudgedToolCall['location'],
    session: string,
    options?: { own?: boolean },
  ): Promise<readonly string[]>;
  /** The mode that a person chose for the session; undefined where the configuration's holds. */
  modeOf(session: string): Promise<SessionMode | undefined>;
  /** A person approved the plan of the session: the mode of before holds again. False where it does not plan. */
  leavePlan(session: string): Promise<boolean>;
}

export interface GatedToolCall extends JudgedToolCall {
  describe: Description;
  /** A question to the user by its nature (AskUserQuestion, plan approval): always asked, without a clock. */
  question?: boolean;
  /** A question that is on the clock all the same: somebody's connection waits for it. */
  expires?: boolean;
  /** Asked before its turn: the answer is kept for the call, which is checked again when its turn comes. */
  ahead?: boolean;
  signal: AbortSignal;
  /**
   * A person changed the input: is it valid, and what would it do? Resolves with the problem as a
   * sentence where it cannot be run.
   */
  revise(input: unknown): Promise<Revision | { problem: string }>;
  /** A person is asked from now on: the call's clock stops, and the caller may report it. */
  onWaiting?(approval: string): void;
  /** Called once for each `onWaiting`, whatever came of it. */
  onResumed?(): void;
}

export interface Revision {
  input: unknown;
  readOnly: boolean;
  effects: readonly Effect[];
  describe: Description;
}

export type Verdict =
  /** `input` is what must run: a person may have changed it, and then `describe` is of the changed one. */
  | { allowed: true; input: unknown; because: VerdictReason; approval?: string; describe?: Description }
  /** `message` is for the model, and says honestly who refused or that no one answered. */
  | {
      allowed: false;
      outcome: 'denied' | 'expired' | 'cancelled' | 'unattended';
      message: string;
      because: VerdictReason;
    };

export type VerdictReason =
  | Reason
  | { kind: 'person'; by: string; via: string; reason?: string; rule?: string }
  | { kind: 'expiry' }
  | { kind: 'abort' }
  | { kind: 'unattended' }
  /** It was allowed, and has been run under that approval already. */
  | { kind: 'used' }
  /** The gateway stops. The question stays open in the store, for when the call is asked again. */
  | { kind: 'closing' };

/** What a call is, as plain data that a terminal and a browser both draw. */
export interface Description {
  /** One line: `Run npm test`, `Edit src/app.ts`. */
  title: string;
  kind: DescriptionKind;
  /** Absolute paths that it is about. */
  paths: readonly string[];
  /** A shell command, whole. */
  command?: string;
  /** A unified diff of what would change. */
  diff?: string;
  url?: string;
  /** Anything else worth showing: a note of the model, what is asked, the head of a long text. */
  detail?: string;
  questions?: readonly Question[];
  /** A form that a server wants to have filled in: the answer is `values` of the input. */
  form?: Form;
  /** What the sub-agent that asks was started for. */
  agent?: string;
}

type DescriptionKind =
  | 'read'
  | 'search'
  | 'edit'
  | 'command'
  | 'fetch'
  | 'think'
  | 'agent'
  | 'memory'
  | 'question'
  | 'mcp'
  | 'other';

export interface Question {
  question: string;
  header?: string;
  options: readonly { label: string; description?: string }[];
  multiSelect?: boolean;
}
