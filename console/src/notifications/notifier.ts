/**
 * Calls a person who is not looking: when something is asked, once more before its time is over, and
 * when a turn of theirs has ended. Of all tabs the one with the connection does it; what was decided,
 * wherever that was, is taken back. Nothing is shown of a call but its tool and its title.
 */
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import type { Timers } from '../data/events/ports.js';
import type { ConsoleState, StateStore, TurnView } from '../data/reducer/console-state.js';
import type { strings } from './strings.js';

export interface NotificationSettings {
  approvals: boolean;
  turnEnds: boolean;
}

export interface Notice {
  /** One of a tag is shown at a time. */
  tag: string;
  title: string;
  body: string;
  /** Where a click leads. */
  to: string;
  /** Alert again, although a notification with this tag is shown. */
  again: boolean;
}

interface NotifyPorts extends Pick<Timers, 'now' | 'after'> {
  store: StateStore;
  settings(): NotificationSettings;
  /** Allowed by the person, and this tab's to do. */
  mayShow(): boolean;
  /** Whether a visible tab shows this route; without an argument, any route. */
  isSeen(route?: string): boolean;
  /** Turns that were begun from this browser. */
  isOwn(session: string): boolean;
  text(): (typeof strings)['en'];
  /** Returns how to take it back. */
  show(notice: Notice): () => void;
}

const MINUTE_MS = 60_000;
/** A second notification is shown when so much time is left. */
const LAST_CALL_MS = 5 * MINUTE_MS;
/** A first notification this shortly before the second one replaces it. */
const APART_MS = MINUTE_MS;
const LONGEST = 200;

export const INBOX = '#/inbox';

export function chatRoute(session: string): string {
  return `#/chat/${encodeURIComponent(session)}`;
}

export class Notifier {
  readonly #ports: NotifyPorts;
  readonly #shown = new Map<string, () => void>();
  /** Known approvals, with the expiry that the second notification was for; null before it. */
  readonly #calledFor = new Map<string, string | null>();
  #before: ConsoleState;
  #cancelTimer: (() => void) | undefined;
  #unsubscribe: () => void = () => {};

  constructor(ports: NotifyPorts) {
    this.#ports = ports;
    this.#before = ports.store.get();
  }

  start(): void {
    this.#unsubscribe = this.#ports.store.subscribe(() => this.#onState());
    this.#onApprovals(this.#before);
  }

  stop(): void {
    this.#unsubscribe();
    this.#cancelTimer?.();
    for (const takeBack of this.#shown.values()) takeBack();
    this.#shown.clear();
  }

  #onState(): void {
    const before = this.#before;
    const now = this.#ports.store.get();
    this.#before = now;
    if (now.approvals !== before.approvals) this.#onApprovals(now);
    if (now.turns === before.turns) return;
    for (const [session, turn] of now.turns) {
      const known = before.turns.get(session);
      if (turn.ended !== undefined && known?.turn === turn.turn && known.ended === undefined)
        this.#onEnd(turn);
    }
  }

  #onApprovals({ approvals }: ConsoleState): void {
    for (const [id, takeBack] of this.#shown) {
      if (!this.#calledFor.has(id) || approvals.get(id)?.state === 'pending') continue;
      takeBack();
      this.#shown.delete(id);
    }
    for (const [id] of this.#calledFor)
      if (approvals.get(id)?.state !== 'pending') this.#calledFor.delete(id);
    for (const approval of approvals.values()) {
      if (approval.state !== 'pending' || this.#calledFor.has(approval.id)) continue;
      this.#calledFor.set(
        approval.id,
        this.#leftMs(approval) < LAST_CALL_MS + APART_MS ? approval.expires_at : null,
      );
      this.#call(approval);
    }
    this.#plan();
  }

  #call(approval: ApprovalWire): void {
    if (!this.#ports.settings().approvals || !this.#wanted(approval)) return;
    const text = this.#ports.text();
    const title = approval.question ? text.question : text.approval(plain(approval.tool));
    this.#show(approval, { title, body: plain(approval.describe.title), again: false });
  }

  #lastCall(approval: ApprovalWire): void {
    this.#calledFor.set(approval.id, approval.expires_at);
    if (!this.#ports.settings().approvals || !this.#wanted(approval)) return;
    const text = this.#ports.text();
    const minutes = Math.max(1, Math.round(this.#leftMs(approval) / MINUTE_MS));
    const body = text.expiresSoon(minutes, plain(approval.describe.title));
    this.#show(approval, { title: text.approval(plain(approval.tool)), body, again: true });
  }

  #onEnd({ session, model, ended }: TurnView): void {
    const { settings, mayShow, isSeen, isOwn, text } = this.#ports;
    if (!settings().turnEnds || !mayShow() || isSeen() || !isOwn(session)) return;
    if (ended?.end !== 'complete' && ended?.end !== 'failed') return;
    const title = ended.end === 'complete' ? text().turnDone(plain(model)) : text().turnFailed(plain(model));
    const tag = `turn ${session}`;
    this.#keep(tag, { tag, title, body: text().turnText, to: chatRoute(session), again: true });
  }

  /** When the next one has only so much time left. */
  #plan(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    let next = Number.POSITIVE_INFINITY;
    for (const approval of this.#before.approvals.values()) {
      if (approval.state !== 'pending' || approval.expires_at === null) continue;
      // It was extended, so it is notified again.
      if (this.#calledFor.get(approval.id) === approval.expires_at) continue;
      const left = this.#leftMs(approval) - LAST_CALL_MS;
      if (left <= 0) this.#lastCall(approval);
      else next = Math.min(next, left);
    }
    if (!Number.isFinite(next)) return;
    // Longer ones do not fit into a timer.
    this.#cancelTimer = this.#ports.after(Math.min(next, 24 * 60 * MINUTE_MS), () => this.#plan());
  }

  #wanted({ session }: ApprovalWire): boolean {
    const { mayShow, isSeen } = this.#ports;
    return mayShow() && !isSeen(INBOX) && !isSeen(chatRoute(session));
  }

  #show({ id, session }: ApprovalWire, notice: Pick<Notice, 'title' | 'body' | 'again'>): void {
    const waiting = [...this.#before.approvals.values()].filter(({ state }) => state === 'pending').length;
    this.#keep(id, { ...notice, tag: id, to: waiting > 1 ? INBOX : chatRoute(session) });
  }

  #keep(tag: string, notice: Notice): void {
    const takeBack = this.#ports.show(notice);
    this.#shown.set(tag, takeBack);
  }

  #leftMs({ expires_at }: ApprovalWire): number {
    if (expires_at === null) return Number.POSITIVE_INFINITY;
    return Date.parse(expires_at) - (this.#ports.now() + this.#before.skewMs);
  }
}

/** Without control and bidi characters. */
function plain(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
