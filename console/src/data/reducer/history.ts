/** A transcript that was fetched, as parts: calls and their results become cards. */
import type { ApprovalWire } from '../../../../src/server/wire/approvals.js';
import type { MessageWire } from '../../../../src/server/wire/sessions.js';
import type { BlockWire } from '../../../../src/server/wire/shared.js';
import type { Part, ToolCard } from '../view.js';
import { askCard, newCard } from './cards.js';
import { addCard, changeCard, isBlank, isSaid, keyBehind, type Level, userKey } from './parts.js';
import { withResult } from './turns.js';

export interface HistoryOptions {
  /** What keys of a turn begin with where no card stands in front; the id that it had while it ran. */
  nameOf?: (turn: number) => string;
  /** Calls that the client has to run. */
  openCalls?: ReadonlySet<string>;
  /** Of the main agent, by call. */
  approvals?: ReadonlyMap<string, ApprovalWire>;
  /** A turn runs, and will deal with what has no result yet. */
  running?: boolean;
}

/** The parts of each turn, in order. */
export interface HistoryTurn {
  turn: number;
  parts: readonly Part[];
  /** The assistant had the last word, and no call is without a result. */
  closed: boolean;
}

export function partsOfMessages(messages: readonly MessageWire[], options: HistoryOptions = {}): Part[] {
  return turnsOfMessages(messages, options).flatMap(({ parts }) => parts);
}

export function turnsOfMessages(
  messages: readonly MessageWire[],
  options: HistoryOptions = {},
): HistoryTurn[] {
  const { nameOf = (turn) => `turn ${turn}` } = options;
  const turns: HistoryTurn[] = [];
  for (const message of messages) {
    let current = turns.at(-1);
    if (current === undefined || current.turn !== message.turn) {
      current = { turn: message.turn, parts: [], closed: false };
      turns.push(current);
    }
    if (message.role === 'assistant') {
      current.parts = addAnswer(current.parts, message.content, nameOf(message.turn));
      current.closed = !message.content.some(({ type }) => type === 'tool_use');
      continue;
    }
    current.closed = false;
    for (const block of message.content) if (block.type === 'tool_result') giveResult(turns, block);
    current.parts = addUser(current.parts, message, nameOf(message.turn));
  }
  for (const [index, each] of turns.entries()) {
    const last = index === turns.length - 1;
    each.parts = each.parts.map((part) => finished(part, options, last));
  }
  return withUniqueKeys(turns);
}

function addAnswer(level: Level, content: readonly BlockWire[], name: string): Level {
  let next = level;
  // Texts of one message are one; those of the next are said anew.
  let open = false;
  for (const block of content) {
    switch (block.type) {
      case 'text':
      case 'thinking': {
        const text = block.type === 'text' ? block.text : block.thinking;
        next = addSaid(next, block.type, text, { name, joins: open });
        open = true;
        break;
      }
      case 'redacted_thinking':
        next = [
          ...next,
          { kind: 'thinking', key: keyBehind(next, name), text: '', streaming: false, redacted: true },
        ];
        open = false;
        break;
      case 'tool_use':
        next = addCard(next, { ...newCard(block.id, block.name), input: block.input });
        open = false;
        break;
      default:
        break;
    }
  }
  return next;
}

function addSaid(
  level: Level,
  kind: 'text' | 'thinking',
  text: string,
  { name, joins }: { name: string; joins: boolean },
): Level {
  const last = level.at(-1);
  if (joins && last !== undefined && last.kind === kind && !(last.kind === 'thinking' && last.redacted))
    return [...level.slice(0, -1), { ...last, text: last.text + text }];
  const key = keyBehind(level, name);
  const part: Part =
    kind === 'text'
      ? { kind, key, text, streaming: false }
      : { kind, key, text, streaming: false, redacted: false };
  return isBlank(part) ? level : [...level, part];
}

function addUser(level: Level, { content, turn }: MessageWire, name: string): Level {
  const said = content.filter(({ type }) => type !== 'tool_result');
  if (said.length === 0) return level;
  const before = level.filter(({ kind }) => kind === 'user').length;
  const key = before === 0 ? userKey(name) : `${userKey(name)}${before}`;
  return [...level, { kind: 'user', key, turn: level.length === 0 ? turn : undefined, content: said }];
}

/** Of a client's tools it stands in a later turn than the call. */
function giveResult(turns: HistoryTurn[], block: Extract<BlockWire, { type: 'tool_result' }>): void {
  for (const each of turns.toReversed()) {
    const parts = changeCard(each.parts, block.tool_use_id, (card) =>
      card.result === undefined ? withResult(card, block) : card,
    );
    if (parts === each.parts) continue;
    each.parts = parts;
    return;
  }
}

function finished(part: Part, options: HistoryOptions, last: boolean): Part {
  if (part.kind !== 'tool') return part;
  const card = finishedCard(part.card, options, last);
  return card === part.card ? part : { ...part, card };
}

function finishedCard(
  card: ToolCard,
  { openCalls, approvals, running }: HistoryOptions,
  last: boolean,
): ToolCard {
  const approval = approvals?.get(card.id);
  const asked = approval === undefined ? card : withReason(askCard(card, approval), approval);
  if (asked.state !== 'pending') return asked;
  if (openCalls?.has(card.id)) return { ...asked, state: 'handed-back' };
  return last && running ? asked : { ...asked, state: 'unknown' };
}

/** In the words of the gateway. */
export function withReason(card: ToolCard, { state, decision }: ApprovalWire): ToolCard {
  if (card.because !== undefined || decision === null || !(state === 'allowed' || state === 'denied'))
    return card;
  const { by, via, rule, reason } = decision;
  const made = rule === undefined ? '' : `, with the rule ${rule}`;
  const said = reason === undefined || reason === '' ? '' : `: ${reason}`;
  return { ...card, because: `${state} by ${by} (${via})${made}${said}` };
}

function withUniqueKeys(turns: HistoryTurn[]): HistoryTurn[] {
  const seen = new Set<string>();
  for (const each of turns) each.parts = each.parts.map((part) => withUniqueKey(part, seen));
  return turns;
}

export function withUniqueKey<T extends Part>(part: T, seen: Set<string>): T {
  let { key } = part;
  for (let count = 2; seen.has(key); count++) key = `${part.key}'${count}`;
  seen.add(key);
  return key === part.key ? part : { ...part, key };
}

/** What a page draws of a row of parts. */
export function isShown(part: Part): boolean {
  if (part.kind === 'tool') return part.card.name !== '';
  return !isSaid(part) || part.streaming || !isBlank(part);
}
