/** The sources of all events but those of turns. */
import type { McpClient } from '../../../mcp/client/mcp-client.js';
import type { Log } from '../../../observability/log.js';
import type { ApprovalCoordinator } from '../../../permissions/approvals.js';
import type { SessionEvent, Sessions } from '../../../sessions/sessions.js';
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

/** Until the returned function is called. */
export function connectSources(hub: EventHub, sources: EventSources): () => void {
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
  return () => {
    for (const end of ends) end();
  };
}

/** Says how a session stands. A change during the lookup is published by the next one. */
class SessionPublisher {
  readonly #hub: EventHub;
  readonly #sources: EventSources;
  /** By session: what to say, and whether it changed since the look began. */
  readonly #due = new Map<string, { what: 'created' | 'changed'; principal: string; again: boolean }>();

  constructor(hub: EventHub, sources: EventSources) {
    this.#hub = hub;
    this.#sources = sources;
  }

  on(event: SessionEvent): void {
    const { session, principal } = event;
    if (event.type === 'ended') {
      this.#due.delete(session);
      this.#hub.publish(principal, { type: 'session', what: event.why, session: { id: session } });
    } else if (event.type === 'created') this.#look(session, principal, 'created');
    else this.changed(session, principal);
  }

  changed(session: string, principal: string): void {
    this.#look(session, principal, 'changed');
  }

  #look(session: string, principal: string, what: 'created' | 'changed'): void {
    // A snapshot has no sessions: who comes later asks for the list.
    if (!this.#hub.watched) return;
    const due = this.#due.get(session);
    if (due !== undefined) {
      due.again = true;
      return;
    }
    const entry = { what, principal, again: false };
    this.#due.set(session, entry);
    void this.#publish(session, entry);
  }

  async #publish(
    session: string,
    entry: { what: 'created' | 'changed'; principal: string; again: boolean },
  ): Promise<void> {
    try {
      const found = await this.#sources.describeSession(session);
      if (this.#due.get(session) !== entry) return;
      this.#due.delete(session);
      if (found === undefined) return;
      this.#hub.publish(entry.principal, { type: 'session', what: entry.what, session: found });
      if (entry.again) this.changed(session, entry.principal);
    } catch (error) {
      this.#due.delete(session);
      this.#sources.log.warn({ err: error, session }, 'a change of a session could not be published');
    }
  }
}
