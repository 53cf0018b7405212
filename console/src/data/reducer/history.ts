/** A transcript that was fetched, as parts: calls and their results become cards. */
import type { BlockWire } from '../../../../src/activity/wire.js';
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';
import type { MessageWire } from '../../../../src/server/console-api/wire/sessions.js';
import { alignRecord, mergeCards } from './align.js';
import { askCard, newCard } from './cards.js';
import { reuse } from './equal.js';
import { cardKey, changeCard, isBlank, isSaid, keyAfter, type Level, userKey } from './parts.js';
import { withResult } from './turns.js';
import type { MediaBlock, Part, TextPart, ThinkingPart, ToolCard } from './view.js';

export interface HistoryOptions {
  /** The prefix of a turn's keys before its first card; the id that it had while it ran. */
  nameOf?: (turn: number) => string;
  /** Calls that the client has to run. */
  openCalls?: ReadonlySet<string>;
  /** Of the main agent, by call. */
  approvals?: ReadonlyMap<string, ApprovalWire>;
  /** A turn runs, and will deal with what has no result yet. */
  running?: boolean;
  /** What is known of calls beside their results: from turns that were watched. */
  cards?: ReadonlyMap<string, ToolCard>;
  /** What was shown of turns beside what the transcript says, by turn. */
  records?: ReadonlyMap<number, readonly Part[]>;
}

/** The parts of each turn, in order. */
export interface HistoryTurn {
  turn: number;
  parts: readonly Part[];
  /** The last message is the assistant's, and every call has a result. */
  closed: boolean;
}

export function turnsOfMessages(
  messages: readonly MessageWire[],
  options: HistoryOptions = {},
): readonly HistoryTurn[] {
  return new HistoryTurns().of(messages, options);
}

/** One turn, from its own messages alone. */
interface RawTurn {
  parts: readonly Part[];
  closed: boolean;
  /** Where the newest card of each call is. */
  calls: ReadonlyMap<string, number>;
  /** Of calls that other turns made. */
  results: readonly Result[];
}

type Result = Extract<BlockWire, { type: 'tool_result' }>;

interface KnownTurn {
  messages: readonly MessageWire[];
  name: string;
  raw: RawTurn;
  /** All else that `shown` was made of. */
  from: readonly unknown[];
  shown: HistoryTurn | undefined;
}

/**
 * The turns of one conversation, updated incrementally: only turns whose inputs have changed are
 * rebuilt, and their unchanged parts stay the same objects. Messages are compared by identity.
 */
export class HistoryTurns {
  #known = new Map<number, KnownTurn>();

  of(messages: readonly MessageWire[], options: HistoryOptions = {}): readonly HistoryTurn[] {
    const { nameOf = (turn) => `turn ${turn}` } = options;
    const before = this.#known;
    const turns = new Map<number, KnownTurn>();
    for (const [turn, own] of byTurn(messages)) {
      const [known, name] = [before.get(turn), nameOf(turn)];
      const same = known !== undefined && known.name === name && sameItems(known.messages, own);
      turns.set(
        turn,
        same ? known : { messages: own, name, raw: rawTurn(own, name), from: [], shown: known?.shown },
      );
    }
    this.#known = turns;
    const all = [...turns];
    const given = givenResults(all.map(([, { raw }]) => raw));
    const seen = new Set<string>();
    return all.map(([turn, known], at) =>
      show(turn, known, {
        results: given.get(at) ?? NO_RESULTS,
        keys: uniqueKeys(known.raw.parts, seen),
        running: at === all.length - 1 && options.running === true,
        options,
      }),
    );
  }
}

interface Around {
  results: readonly Result[];
  keys: readonly string[];
  /** It is the newest, and runs. */
  running: boolean;
  options: HistoryOptions;
}

const NO_RESULTS: readonly Result[] = [];

function show(turn: number, known: KnownTurn, { results, keys, running, options }: Around): HistoryTurn {
  const { raw, shown } = known;
  const { approvals, openCalls, cards, records } = options;
  const record = running ? undefined : records?.get(turn);
  const from: unknown[] = [raw, running, record, ...results];
  for (const id of raw.calls.keys()) from.push(approvals?.get(id), openCalls?.has(id), cards?.get(id));
  // Few keys differ from those of the stored parts.
  for (const [at, key] of keys.entries()) if (key !== raw.parts[at]?.key) from.push(key);
  if (shown !== undefined && sameItems(known.from, from)) return shown;
  let parts: Level = raw.parts;
  for (const result of results)
    parts = changeCard(parts, result.tool_use_id, (card) => withResult(card, result));
  const finishedParts = parts.map((part, at) => {
    const key = keys[at] ?? part.key;
    return finished(key === part.key ? part : { ...part, key }, options, running);
  });
  const whole = record === undefined ? finishedParts : alignRecord(finishedParts, record).filter(isShown);
  const next = { turn, parts: reuse(shown?.parts ?? [], whole), closed: raw.closed };
  known.from = from;
  known.shown = next;
  return next;
}

function byTurn(messages: readonly MessageWire[]): Map<number, MessageWire[]> {
  const turns = new Map<number, MessageWire[]>();
  for (const message of messages) {
    const own = turns.get(message.turn);
    if (own === undefined) turns.set(message.turn, [message]);
    else own.push(message);
  }
  return turns;
}

/** The result of a client's tool is in a later turn than the call; by the index of the call's turn. */
function givenResults(turns: readonly RawTurn[]): ReadonlyMap<number, readonly Result[]> {
  const given = new Map<number, Result[]>();
  const takes = (at: number, id: string): boolean => {
    const { calls, parts } = turns[at] ?? NO_TURN;
    const part = parts[calls.get(id) ?? -1];
    const has = given.get(at)?.some(({ tool_use_id }) => tool_use_id === id) === true;
    return part?.kind === 'tool' && part.card.result === undefined && !has;
  };
  for (const [from, { results }] of turns.entries())
    for (const result of results) {
      let at = from;
      while (at >= 0 && !takes(at, result.tool_use_id)) at -= 1;
      if (at < 0) continue;
      const own = given.get(at);
      if (own === undefined) given.set(at, [result]);
      else own.push(result);
    }
  return given;
}

const NO_TURN: RawTurn = { parts: [], closed: false, calls: new Map(), results: [] };

function rawTurn(messages: readonly MessageWire[], name: string): RawTurn {
  const parts: Part[] = [];
  const calls = new Map<string, number>();
  const results: Result[] = [];
  let closed = false;
  for (const message of messages) {
    if (message.role === 'assistant') {
      addAnswer(parts, calls, message.content, name);
      closed = !message.content.some(({ type }) => type === 'tool_use');
      continue;
    }
    closed = false;
    for (const block of message.content) {
      if (block.type !== 'tool_result') continue;
      const at = calls.get(block.tool_use_id) ?? -1;
      const part = parts[at];
      if (part?.kind === 'tool' && part.card.result === undefined)
        parts[at] = { ...part, card: withResult(part.card, block) };
      else results.push(block);
    }
    addUser(parts, message, name);
  }
  return { parts, closed, calls, results };
}

function addAnswer(
  parts: Part[],
  calls: Map<string, number>,
  content: readonly BlockWire[],
  name: string,
): void {
  // Texts of one message are merged; those of the next begin a new part.
  let open = false;
  for (const block of content) {
    switch (block.type) {
      case 'text':
      case 'thinking': {
        const text = block.type === 'text' ? block.text : block.thinking;
        addSaid(parts, block.type, text, { name, joins: open });
        open = true;
        break;
      }
      case 'redacted_thinking':
        parts.push({
          kind: 'thinking',
          key: keyAfter(parts, name),
          text: '',
          streaming: false,
          redacted: true,
        });
        open = false;
        break;
      case 'image':
      case 'document':
        addMedia(parts, block, name);
        open = false;
        break;
      case 'tool_use': {
        const again = calls.has(block.id);
        const key = again ? cardKey(parts, block.id) : block.id;
        const card = { ...newCard(block.id, block.name), input: block.input };
        calls.set(block.id, parts.push({ kind: 'tool', key, card }) - 1);
        open = false;
        break;
      }
      default:
        break;
    }
  }
}

function addSaid(
  parts: Part[],
  kind: 'text' | 'thinking',
  text: string,
  { name, joins }: { name: string; joins: boolean },
): void {
  const last = parts.at(-1);
  if (joins && last !== undefined && last.kind === kind && !(last.kind === 'thinking' && last.redacted)) {
    parts[parts.length - 1] = { ...last, text: last.text + text };
    return;
  }
  const key = keyAfter(parts, name);
  const part: TextPart | ThinkingPart =
    kind === 'text'
      ? { kind, key, text, streaming: false }
      : { kind, key, text, streaming: false, redacted: false };
  if (!isBlank(part)) parts.push(part);
}

/** Events do not report it, so it does not count for the keys of the texts. */
function addMedia(parts: Part[], block: MediaBlock, name: string): void {
  const last = parts.at(-1);
  if (last?.kind === 'media') parts[parts.length - 1] = { ...last, content: [...last.content, block] };
  else parts.push({ kind: 'media', key: `${keyAfter(parts, name)}~media`, content: [block] });
}

function addUser(parts: Part[], { content, turn }: MessageWire, name: string): void {
  const said = content.filter(({ type }) => type !== 'tool_result');
  if (said.length === 0) return;
  const before = parts.filter(({ kind }) => kind === 'user').length;
  const key = before === 0 ? userKey(name) : `${userKey(name)}${before}`;
  parts.push({ kind: 'user', key, turn: parts.length === 0 ? turn : undefined, content: said });
}

function finished(part: Part, options: HistoryOptions, runs: boolean): Part {
  if (part.kind !== 'tool') return part;
  const card = finishedCard(part.card, options, runs);
  const watched = options.cards?.get(card.id);
  if (watched !== undefined) return { ...part, card: mergeCards(card, watched) };
  return card === part.card ? part : { ...part, card };
}

function finishedCard(card: ToolCard, { openCalls, approvals }: HistoryOptions, runs: boolean): ToolCard {
  const approval = approvals?.get(card.id);
  const asked = approval === undefined ? card : withReason(askCard(card, approval), approval);
  if (asked.state !== 'pending') return asked;
  if (openCalls?.has(card.id)) return { ...asked, state: 'handed-back' };
  return runs ? asked : { ...asked, state: 'unknown' };
}

/** In the words of the gateway. */
function withReason(card: ToolCard, { state, decision }: ApprovalWire): ToolCard {
  if (card.because !== undefined || decision === null || !(state === 'allowed' || state === 'denied'))
    return card;
  const { by, via, rule, reason } = decision;
  const made = rule === undefined ? '' : `, with the rule ${rule}`;
  const said = reason === undefined || reason === '' ? '' : `: ${reason}`;
  return { ...card, because: `${state} by ${by} (${via})${made}${said}` };
}

function uniqueKeys(parts: readonly Part[], seen: Set<string>): string[] {
  return parts.map(({ key }) => uniqueKey(key, seen, seen));
}

/** Not among those that are `taken`, and from now on one of `seen`. */
export function uniqueKey(wanted: string, taken: ReadonlySet<string>, seen: Set<string>): string {
  let key = wanted;
  for (let count = 2; taken.has(key) || seen.has(key); count++) key = `${wanted}'${count}`;
  seen.add(key);
  return key;
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

/** What a page draws of a row of parts. */
export function isShown(part: Part): boolean {
  if (part.kind === 'tool') return part.card.name !== '';
  return !isSaid(part) || part.streaming || !isBlank(part);
}
