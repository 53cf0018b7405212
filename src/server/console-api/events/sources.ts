/** The sources of all events but those of turns. */
import type { McpClient } from '../../../mcp/client/mcp-client.js';
import type { Log } from '../../../observability/log.js';
import type { ApprovalCoordinator } from '../../../permissions/approvals.js';
import type { SessionEvent, Sessions } from '../../../sessions/sessions.js';
import type { Change } from '../../../store/bus.js';
import type { SessionWire } from '../wire/sessions.js';
import { approvalToWire, ruleToWire } from './approval-wire.js';
import type { EventHub } from './hub.js';

interface EventSources {
  approvals: Pick<ApprovalCoordinator, 'subscribe' | 'onRule'>;
  sessions: Pick<Sessions, 'subscribe'>;
  mcp: Pick<McpClient, 'onChange'>;
  /** Undefined for one that is gone. */
  describeSession(id: string): Promise<SessionWire | undefined>;
  log: Log;
}

export interface ConnectedSources {
  /** Sessions that any process on the store has changed. */
  follow(changes: readonly Change[]): void;
  /** Sessions that stand otherwise without a change in the store. */
  look(sessions: readonly string[]): void;
  close(): void;
}

export function connectSources(hub: EventHub, sources: EventSources): ConnectedSources {
  const { approvals, sessions, mcp } = sources;
  const changes = new SessionPublisher(hub, sources);
  const ends = [
    approvals.subscribe(({ type: what, approval }) => {
      const now = new Date().toISOString();
      hub.publish(approval.principal, { type: 'approval', what, approval: approvalToWire(approval), now });
      changes.changed(approval.session, approval.principal);
    }),
    approvals.onRule(({ type: what, rule }) => {
      // As `GET /api/rules` lists them: those of a session are for who made them.
      const audience = 'session' in rule ? rule.createdBy : null;
      hub.publish(audience, { type: 'rule', what, rule: ruleToWire(rule) });
    }),
    mcp.onChange(({ name, state }) => hub.publish(null, { type: 'mcp', server: name, state })),
    sessions.subscribe((event) => changes.on(event)),
  ];
  return {
    follow: (heard) => {
      for (const change of heard) if (change.kind === 'session') changes.hear(change);
    },
    look: (ids) => {
      for (const id of ids) changes.lookUp(id);
    },
    close: () => {
      for (const end of ends) end();
    },
  };
}

/** Sessions whose last event is known, so that what was said already is not said again. */
const REMEMBERED = 2_000;
const GONE = 'gone';

interface DueSession {
  what: 'created' | 'changed';
  principal: string;
  again: boolean;
  /** From another process, perhaps: nothing is said where nothing is new. */
  heard: boolean;
}

/** Says how a session stands. A change during the lookup is published by the next one. */
class SessionPublisher {
  readonly #hub: EventHub;
  readonly #sources: EventSources;
  /** By session: what to say, and whether it changed since the look began. */
  readonly #due = new Map<string, DueSession>();
  /** What was said last, by session. */
  readonly #said = new Map<string, string>();

  constructor(hub: EventHub, sources: EventSources) {
    this.#hub = hub;
    this.#sources = sources;
  }

  on(event: SessionEvent): void {
    const { session, principal } = event;
    if (event.type === 'ended') {
      this.#end(session, principal, event.why);
    } else if (event.type === 'created') this.#look(session, principal, 'created');
    else this.changed(session, principal);
  }

  changed(session: string, principal: string): void {
    this.#look(session, principal, 'changed');
  }

  /** Of whichever key. */
  lookUp(session: string): void {
    this.#sources.describeSession(session).then(
      (found) => {
        if (found !== undefined)
          this.#hub.publish(found.key, { type: 'session', what: 'changed', session: found });
      },
      (error: unknown) => this.#warn(error, session),
    );
  }

  hear({ id, principal, what }: Extract<Change, { kind: 'session' }>): void {
    if (what === 'deleted' || what === 'expired') {
      if (this.#said.get(id) !== GONE) this.#end(id, principal, what);
    } else this.#look(id, principal, this.#said.has(id) ? 'changed' : what, true);
  }

  #end(session: string, principal: string, why: 'deleted' | 'expired'): void {
    this.#due.delete(session);
    this.#remember(session, GONE);
    this.#hub.publish(principal, { type: 'session', what: why, session: { id: session } });
  }

  #remember(session: string, said: string): void {
    this.#said.delete(session);
    this.#said.set(session, said);
    const [oldest] = this.#said.keys();
    if (this.#said.size > REMEMBERED && oldest !== undefined) this.#said.delete(oldest);
  }

  #look(session: string, principal: string, what: 'created' | 'changed', heard = false): void {
    // A snapshot has no sessions: who comes later asks for the list.
    if (!this.#hub.watched) return;
    const due = this.#due.get(session);
    if (due !== undefined) {
      due.again = true;
      due.heard &&= heard;
      return;
    }
    const entry = { what, principal, again: false, heard };
    this.#due.set(session, entry);
    void this.#publish(session, entry);
  }

  async #publish(session: string, entry: DueSession): Promise<void> {
    try {
      const found = await this.#sources.describeSession(session);
      if (this.#due.get(session) !== entry) return;
      this.#due.delete(session);
      if (found === undefined) return;
      const said = JSON.stringify(found);
      if (!entry.heard || this.#said.get(session) !== said) {
        this.#remember(session, said);
        this.#hub.publish(entry.principal, { type: 'session', what: entry.what, session: found });
      }
      if (entry.again) this.#look(session, entry.principal, 'changed', entry.heard);
    } catch (error) {
      this.#due.delete(session);
      this.#warn(error, session);
    }
  }

  #warn(error: unknown, session: string): void {
    this.#sources.log.warn({ err: error, session }, 'a change of a session could not be published');
  }
}
