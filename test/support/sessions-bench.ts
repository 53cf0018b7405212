/** A conversation as tests hold it: a store, sessions on it, and a client that sends and answers. */
import type { Block, Message, ToolResultBlock, ToolUseBlock } from '../../src/core/conversation.js';
import { createSessions, type SessionsOptions } from '../../src/sessions/lifetime/create-sessions.js';
import type {
  Attachment,
  AttachRequest,
  NotedAttachment,
  SessionEvent,
  Sessions,
  Turn,
} from '../../src/sessions/sessions.js';
import { openStore } from '../../src/store/open/open-store.js';
import type { Store } from '../../src/store/store.js';

export const user = (...content: (string | Block)[]): Message => ({ role: 'user', content: blocks(content) });
export const said = (...content: (string | Block)[]): Message => ({
  role: 'assistant',
  content: blocks(content),
});
const blocks = (content: readonly (string | Block)[]): Block[] =>
  content.map((each) => (typeof each === 'string' ? { type: 'text', text: each } : each));

export const call = (id: string, name = 'get', input = {}): ToolUseBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
});
export const result = (toolUseId: string, text: string, isError = false): ToolResultBlock => ({
  type: 'tool_result',
  toolUseId,
  content: [{ type: 'text', text }],
  isError,
});

export interface TestBenchOptions extends Partial<SessionsOptions> {
  url?: string;
  baseDir?: string;
  /** Whether clients hear the end of their answers. */
  delivers?: boolean;
}

export class SessionsBench {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly events: SessionEvent[] = [];
  readonly clock: { now: number };

  /** Of the last turn, by session. */
  readonly #keys = new Map<string, string>();

  private constructor(store: Store, sessions: Sessions, clock: { now: number }, delivers: boolean) {
    this.store = store;
    this.sessions = sessions;
    this.clock = clock;
    sessions.subscribe((event) => {
      this.events.push(event);
      // Its client has each answer at once, unless a test is about that.
      if (event.type === 'turn-ended' && event.end !== 'broken' && delivers) this.deliver(event.session);
    });
  }

  static async open({
    url,
    baseDir,
    delivers = true,
    ...options
  }: TestBenchOptions = {}): Promise<SessionsBench> {
    const clock = { now: 1_760_000_000_000 };
    const now = options.now ?? (() => clock.now);
    const store =
      options.store ?? (await openStore(url ?? 'sqlite::memory:', { baseDir: baseDir ?? '/', now }));
    const sessions = createSessions({
      log: { warn: (_facts, message) => void message },
      ttlMs: 3_600_000,
      toolTimeoutMs: 120_000,
      onToolTimeout: 'hibernate',
      now,
      ...options,
      store,
    });
    return new SessionsBench(wholeStore(store), sessions, clock, delivers);
  }

  async close(): Promise<void> {
    await this.sessions.close();
    await this.store.close();
  }

  deliver(session: string): void {
    this.sessions.delivered(session, this.#keys.get(session) ?? '');
  }

  async attach(messages: readonly Message[], rest: AttachOptions = {}): Promise<NotedAttachment> {
    const { tools = [], system = [], toolChoice, parallelToolCalls, ...both } = rest;
    const { maxTokens, temperature, stopSequences, extensions, stream, ...other } = both;
    const attached = await this.sessions.attach({
      principal: 'alice',
      engine: 'native',
      model: 'coder',
      root: '/w',
      ...other,
      request: {
        messages: [...messages],
        tools,
        system,
        ...(toolChoice !== undefined && { toolChoice }),
        ...(parallelToolCalls !== undefined && { parallelToolCalls }),
        ...(maxTokens !== undefined && { maxTokens }),
        ...(temperature !== undefined && { temperature }),
        ...(stopSequences !== undefined && { stopSequences }),
        ...(extensions !== undefined && { extensions }),
        ...(stream !== undefined && { stream }),
      },
    });
    if (attached.kind === 'turn') this.#keys.set(attached.turn.id, attached.turn.key);
    return attached;
  }

  async turn(messages: readonly Message[], rest: AttachOptions = {}): Promise<Turn> {
    return asTurn(await this.attach(messages, rest));
  }

  /** One turn whose answer is the text, with a call and its result behind it that the client does not see. */
  async say(messages: readonly Message[], answer: string, rest: AttachOptions = {}): Promise<Turn> {
    const turn = await this.turn(messages, rest);
    await speak(turn, answer);
    return turn;
  }

  /** One turn that hands calls back. */
  async handBack(
    messages: readonly Message[],
    calls: readonly ToolUseBlock[],
    rest: AttachOptions & { text?: string; here?: readonly ToolUseBlock[] } = {},
  ): Promise<Turn> {
    const { text, here = [], ...options } = rest;
    const turn = await this.turn(messages, options);
    await handBack(turn, calls, { ...(text !== undefined && { text }), here });
    return turn;
  }
}

export type AttachOptions = Partial<Omit<AttachRequest, 'request'> & AttachRequest['request']>;

export async function speak(turn: Turn, answer: string): Promise<void> {
  const id = turn.claimId('s');
  turn.transcript.push(said(call(id, 'Read')));
  await turn.save();
  turn.transcript.push(user(result(id, `hidden ${answer}`)));
  await turn.save();
  turn.transcript.push(said(answer));
  await turn.complete({ answer: { blocks: said(answer).content, reason: 'end_turn' } });
}

export async function handBack(
  turn: Turn,
  open: readonly ToolUseBlock[],
  { text, here = [] }: { text?: string; here?: readonly ToolUseBlock[] } = {},
): Promise<void> {
  const spoken = text === undefined ? [] : [text];
  const calls = [...here, ...open];
  turn.transcript.push(said(...spoken, ...calls));
  await turn.complete({
    answer: { blocks: said(...spoken, ...open).content, reason: 'tool_use' },
    handedBack: {
      calls,
      open,
      results: new Map(here.map(({ id }) => [id, result(id, `ran ${id}`)])),
    },
  });
}

export function asTurn(attached: Attachment): Turn {
  if (attached.kind !== 'turn') throw new Error(`It is ${attached.kind}`);
  return attached.turn;
}

function wholeStore(store: Store | SessionsOptions['store']): Store {
  if (!('close' in store)) throw new Error('A whole store is needed.');
  return store;
}
