/** What concerns every answer. Each rule is one check, so that breaking it hides nothing else. */
import type { WireName } from './dialects.js';

export const EVERYWHERE = {
  model: 'Answers name the model that was asked for',
  requestId: "Answers carry a request id in the wire's own header",
  contentType: 'Answers say their content type',
  errorShape: 'Errors have the shape of the wire',
  credential: "The client's credential does not go upstream",
  plainRequest: 'A strict upstream takes a plain request',
} as const;

export type EverywhereRule = keyof typeof EVERYWHERE;

export const EVERYWHERE_RULES = Object.keys(EVERYWHERE).filter(
  (key): key is EverywhereRule => key in EVERYWHERE,
);

/** Where each wire has its request id. */
export const REQUEST_ID: Readonly<Record<WireName, string>> = {
  messages: 'request-id',
  chat: 'x-request-id',
  responses: 'x-request-id',
};

/** What one check saw of these rules: the rules that it could judge, each with what was wrong or with nothing. */
export class EverywhereLog {
  readonly seen = new Map<EverywhereRule, string | undefined>();

  note(rule: EverywhereRule, holds: boolean, problem: () => string): void {
    if (this.seen.get(rule) === undefined) this.seen.set(rule, holds ? undefined : problem());
  }

  get problems(): string[] {
    return [...this.seen].flatMap(([rule, problem]) =>
      problem === undefined ? [] : [`${EVERYWHERE[rule]}: ${problem}`],
    );
  }
}
