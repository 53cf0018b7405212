/** What a person has begun to answer. Kept while the page is open: a card may be scrolled out of sight. */
import { useSyncExternalStore } from 'react';
import type { RuleScopeWire } from '../../../src/server/console-api/wire/approvals.js';
import type { GivenAnswer } from '../cards/parse/questions.js';

type DraftMode = 'buttons' | 'deny' | 'always' | 'edit';

export interface Draft {
  mode: DraftMode;
  reason: string;
  rule: string | undefined;
  scope: RuleScopeWire;
  behaviour: 'allow' | 'deny';
  /** Undefined until something is changed. */
  edited: string | undefined;
  asJson: boolean;
  answers: ReadonlyMap<string, GivenAnswer>;
}

const EMPTY: Draft = {
  mode: 'buttons',
  reason: '',
  rule: undefined,
  scope: 'session',
  behaviour: 'allow',
  edited: undefined,
  asJson: false,
  answers: new Map(),
};

const MOST = 500;
const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

export function useDraft(id: string): [Draft, (change: Partial<Draft>) => void] {
  const draft = useSyncExternalStore(subscribe, () => drafts.get(id) ?? EMPTY);
  return [draft, (change) => keep(id, { ...(drafts.get(id) ?? EMPTY), ...change })];
}

export function dropDraft(id: string): void {
  if (drafts.delete(id)) tell();
}

/** The typed text, to be copied when another person decided first. */
export function typedIn(draft: Draft): string {
  const own = [...draft.answers.values()].map((answer) => answer.own);
  return [draft.reason, draft.edited ?? '', ...own].filter((each) => each.trim() !== '').join('\n\n');
}

function keep(id: string, draft: Draft): void {
  drafts.delete(id);
  drafts.set(id, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > MOST && oldest !== undefined) drafts.delete(oldest);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
