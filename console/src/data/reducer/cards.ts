/** The states of one tool card. A final state stays; a result wins over an approval. */
import type { ActivityWire } from '../../../../src/activity/wire.js';
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';
import type { CardState, ToolCard } from './view.js';

type Of<Type extends ActivityWire['type']> = Extract<ActivityWire, { type: Type }>;

const FINAL: ReadonlySet<CardState> = new Set([
  'success',
  'error',
  'denied',
  'expired',
  'cancelled',
  'handed-back',
]);

/** Outcomes of the gateway's tool runs; an unknown one is judged by `is_error`. */
const STATE_OF_OUTCOME: Readonly<Record<string, CardState>> = {
  denied: 'denied',
  unattended: 'denied',
  expired: 'expired',
  aborted: 'cancelled',
  failed: 'error',
  invalid: 'error',
  'timed-out': 'error',
  'unknown-tool': 'error',
};

const REFUSED: ReadonlySet<string> = new Set(['denied', 'expired', 'cancelled']);

/** Characters of what a tool prints while it runs: the end of it. */
const PROGRESS_CHARS = 16 * 1024;

/** The output of a command is one stream; every progress of another tool is a line of its own. */
const PRINTS: ReadonlySet<string> = new Set(['Bash', 'BashOutput']);

export function newCard(id: string, name: string): ToolCard {
  return {
    id,
    name,
    state: 'pending',
    inputText: '',
    input: undefined,
    title: undefined,
    kind: undefined,
    command: undefined,
    diff: undefined,
    progress: undefined,
    result: undefined,
    shown: undefined,
    truncated: false,
    startedAt: undefined,
    durationMs: undefined,
    approval: undefined,
    because: undefined,
    agent: undefined,
  };
}

export function isFinal({ state }: ToolCard): boolean {
  return FINAL.has(state);
}

export function startCard(card: ToolCard, chunk: Of<'tool_start'>): ToolCard {
  if (isFinal(card)) return card;
  return {
    ...card,
    name: chunk.name,
    state: 'running',
    title: chunk.title,
    kind: chunk.kind,
    command: chunk.command ?? card.command,
    diff: chunk.diff ?? card.diff,
    because: chunk.because ?? card.because,
    startedAt: timeOf(chunk.at) ?? card.startedAt,
  };
}

export function waitCard(card: ToolCard, chunk: Of<'tool_waiting'>): ToolCard {
  if (isFinal(card)) return card;
  return {
    ...card,
    name: chunk.name,
    state: 'waiting',
    title: chunk.title,
    approval: chunk.approval ?? card.approval,
  };
}

export function progressCard(card: ToolCard, { text }: Of<'tool_progress'>): ToolCard {
  if (isFinal(card)) return card;
  const before =
    card.progress === undefined || PRINTS.has(card.name)
      ? (card.progress ?? '')
      : `${card.progress}
`;
  const progress = (before + text).slice(-PROGRESS_CHARS);
  return { ...card, progress };
}

export function endCard(card: ToolCard, chunk: Of<'tool_result'>): ToolCard {
  const state = STATE_OF_OUTCOME[chunk.outcome] ?? (chunk.is_error ? 'error' : 'success');
  return {
    ...card,
    name: chunk.name === '' ? card.name : chunk.name,
    // Claude Code reports a denial as an ordinary error.
    state: state === 'error' && REFUSED.has(card.state) ? card.state : state,
    result: chunk.content,
    shown: chunk.shown,
    truncated: chunk.truncated,
    durationMs: chunk.duration_ms,
    progress: undefined,
    because: chunk.because ?? card.because,
  };
}

/** What the question about a call says about its card. */
export function askCard(card: ToolCard, approval: ApprovalWire): ToolCard {
  switch (approval.state) {
    case 'pending': {
      // A gateway that stops ends the call, and leaves its question open.
      if (isFinal(card) && !REFUSED.has(card.state)) return card;
      const { title, kind, command, diff } = approval.describe;
      return {
        ...card,
        state: 'waiting',
        approval: approval.id,
        input: card.input ?? approval.input,
        title: title || card.title,
        kind: kind || card.kind,
        command: command ?? card.command,
        diff: diff ?? card.diff,
      };
    }
    case 'allowed':
    case 'covered':
      if (card.state !== 'waiting')
        return card.approval === undefined ? { ...card, approval: approval.id } : card;
      return {
        ...card,
        approval: approval.id,
        state: card.startedAt === undefined ? 'pending' : 'running',
      };
    case 'denied':
    case 'expired':
    case 'cancelled':
      // The result itself says what came up while the call ran.
      if (card.startedAt !== undefined || (isFinal(card) && card.state !== 'error'))
        return card.state === 'waiting' ? { ...card, state: 'running' } : card;
      return { ...card, approval: approval.id, state: approval.state };
  }
}

export function timeOf(time: string): number | undefined {
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
}
