/** A gateway for tests of the reducer: it numbers what it is told to say, and can say how all stands. */
import type { ActivityWire, AgentRef, BlockWire } from '../../src/activity/wire.js';
import type { ApprovalStateWire, ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import type { ConsoleEvent, TurnSnapshotWire } from '../../src/server/console-api/wire/events.js';

type Distributed<Each, Without extends string> = Each extends unknown ? Omit<Each, Without> : never;
export type NewEvent = Distributed<ConsoleEvent, 'id' | 'prev'>;
export type NewChunk = Distributed<ActivityWire, 'session' | 'turn' | 'agent' | 'at'>;

export const TIME = '2026-01-01T00:00:00.000Z';
const EPOCH = 'e1';

export function approvalOf(id: string, more: Partial<ApprovalWire> = {}): ApprovalWire {
  return {
    id,
    session: 's1',
    key: 'alice',
    agent: null,
    agent_label: null,
    tool_use_id: `call_${id}`,
    tool: 'Bash',
    input: { command: 'make' },
    describe: { title: 'Run make', kind: 'command', command: 'make' },
    why: 'no rule matches',
    risks: [],
    cwd: '/w',
    project: '/w',
    question: false,
    suggestions: [],
    hints: {
      default_to_no: false,
      suppress_always: false,
      blocked_path: null,
      reason: null,
      title: null,
      description: null,
      mcp_server: null,
    },
    digest: `digest of ${id}`,
    state: 'pending',
    created_at: TIME,
    expires_at: '2026-01-01T00:30:00.000Z',
    used_at: null,
    decision: null,
    ...more,
  };
}

export class ScriptedGateway {
  readonly events: ConsoleEvent[] = [];
  readonly #turns = new Map<string, TurnSnapshotWire>();
  readonly #approvals = new Map<string, ApprovalWire>();
  #seq = 0;

  constructor() {
    this.events.push(this.snapshot());
  }

  get id(): string {
    return `${EPOCH}.${this.#seq}`;
  }

  say(event: NewEvent): ConsoleEvent {
    const prev = this.id;
    this.#seq += 1;
    const said: ConsoleEvent = { ...event, id: this.id, prev };
    this.events.push(said);
    return said;
  }

  begin(turn: string, session = 's1', message: BlockWire[] = [{ type: 'text', text: 'go' }]): ConsoleEvent {
    const began = { session, turn, began_at: TIME, model: 'coder', message };
    this.#turns.set(session, { ...began, chunks: [] });
    return this.say({ type: 'turn', state: 'began', ...began });
  }

  chunk(
    chunk: NewChunk,
    { session = 's1', agent = null }: { session?: string; agent?: AgentRef | null } = {},
  ): ConsoleEvent {
    const live = this.#turns.get(session);
    const whole: ActivityWire = { ...chunk, session, turn: live?.turn ?? 'none', agent, at: TIME };
    live?.chunks.push(whole);
    return this.say(whole);
  }

  end(session = 's1', end: 'complete' | 'stopped' | 'failed' = 'complete'): ConsoleEvent | undefined {
    const live = this.#turns.get(session);
    if (live === undefined) return undefined;
    this.#turns.delete(session);
    return this.say({
      type: 'turn',
      state: 'ended',
      session,
      turn: live.turn,
      end,
      stop_reason: null,
      error: null,
    });
  }

  ask(approval: ApprovalWire): ConsoleEvent {
    this.#approvals.set(approval.id, approval);
    return this.say({ type: 'approval', what: 'requested', approval, now: TIME });
  }

  resolve(id: string, state: ApprovalStateWire): ConsoleEvent | undefined {
    const asked = this.#approvals.get(id);
    if (asked === undefined) return undefined;
    this.#approvals.delete(id);
    const approval = { ...asked, state, decision: { at: TIME, by: 'alice', via: 'console' } };
    return this.say({ type: 'approval', what: 'resolved', approval, now: TIME });
  }

  /** As of the last event. */
  snapshot(): ConsoleEvent {
    const turns = [...this.#turns.values()].map((turn) => ({ ...turn, chunks: coalesced(turn.chunks) }));
    return {
      type: 'snapshot',
      id: this.id,
      prev: null,
      now: TIME,
      approvals: [...this.#approvals.values()],
      turns,
    };
  }
}

/** Consecutive pieces of the same text put together. */
function coalesced(chunks: readonly ActivityWire[]): ActivityWire[] {
  const kept: ActivityWire[] = [];
  for (const chunk of chunks) {
    const last = kept.at(-1);
    const joins =
      last !== undefined && (chunk.type === 'text' || chunk.type === 'thinking') && last.type === chunk.type;
    if (joins && last.agent?.id === chunk.agent?.id)
      kept[kept.length - 1] = { ...last, text: last.text + chunk.text };
    else kept.push(chunk);
  }
  return kept;
}
