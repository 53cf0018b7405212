/** Processes that wait for a conversation, by profile. One costs some 200 MB, so they do not wait for ever. */
import type { RuntimeLog } from '../../../tools/runtime/runtime.js';
import type { ProcessProfile } from './claude-processes.js';
import type { LaunchedProcess, StartedProcess } from './start-process.js';

interface SparePoolOptions {
  /** For each profile. */
  count: number;
  /** For all profiles together; the one that was wanted longest ago goes. */
  total: number;
  idleMs: number;
  wakeUpMs: number;
  start: (profile: ProcessProfile) => Promise<StartedProcess>;
  log: RuntimeLog;
}

interface Spare {
  key: string;
  /** Undefined when it did not come up. */
  ready: Promise<StartedProcess | undefined>;
  timer: NodeJS.Timeout | undefined;
}

export class SparePool {
  readonly #options: SparePoolOptions;
  /** In the order in which they were started. */
  readonly #spares = new Set<Spare>();
  #closed = false;

  constructor(options: SparePoolOptions) {
    this.#options = options;
  }

  /** One that waits, or that is about to; undefined where there is none. It is the caller's then. */
  async take(profile: ProcessProfile): Promise<StartedProcess | undefined> {
    const key = keyOf(profile);
    for (const spare of this.#spares) {
      if (spare.key !== key) continue;
      this.#remove(spare);
      const started = await spare.ready;
      if (started?.launched.running === true) return started;
    }
    return undefined;
  }

  /** Starts what is missing of the profile's spares. */
  fill(profile: ProcessProfile): void {
    const { count, total } = this.#options;
    const key = keyOf(profile);
    const same = [...this.#spares].filter((spare) => spare.key === key);
    for (const spare of same) this.#rest(spare);
    if (this.#closed) return;
    for (let missing = Math.min(count, total) - same.length; missing > 0; missing -= 1)
      this.#add(key, profile);
    for (const spare of this.#spares) {
      if (this.#spares.size <= total) return;
      if (spare.key !== key) this.#drop(spare);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#spares].map((spare) => this.#drop(spare)));
  }

  #add(key: string, profile: ProcessProfile): void {
    const spare: Spare = { key, ready: Promise.resolve(undefined), timer: undefined };
    this.#spares.add(spare);
    this.#rest(spare);
    spare.ready = this.#start(spare, profile);
  }

  async #start(spare: Spare, profile: ProcessProfile): Promise<StartedProcess | undefined> {
    const { start, log, wakeUpMs } = this.#options;
    let started: StartedProcess | undefined;
    try {
      started = await start(profile);
      void started.launched.exited.then(() => this.#remove(spare));
      await wakeUp(started.launched, wakeUpMs);
      return started;
    } catch (error) {
      this.#remove(spare);
      await started?.launched.close();
      // The conversation that would have had it starts one of its own, and reports what goes wrong.
      log.warn({ err: error }, 'a spare process of Claude Code did not come up');
      return undefined;
    }
  }

  /** It waits from now on. */
  #rest(spare: Spare): void {
    clearTimeout(spare.timer);
    spare.timer = setTimeout(() => void this.#drop(spare), this.#options.idleMs);
    spare.timer.unref();
  }

  #remove(spare: Spare): void {
    clearTimeout(spare.timer);
    this.#spares.delete(spare);
  }

  async #drop(spare: Spare): Promise<void> {
    this.#remove(spare);
    await (await spare.ready)?.launched.close();
  }
}

function keyOf({ cwd, model, baseUrl, tools, contextWindow }: ProcessProfile): string {
  return JSON.stringify([cwd, model, baseUrl, tools, contextWindow ?? null]);
}

type Fields = Readonly<Record<string, unknown>>;

const REHEARSAL = 'rehearsal';

const CONTEXT: Fields = { subtype: 'get_context_usage', detail: 'summary' };

/** Each when the one before is answered. */
const QUESTIONS: readonly Fields[] = [
  { subtype: 'list_models' },
  { subtype: 'get_settings' },
  { subtype: 'list_permission_rules' },
  { subtype: 'get_hooks_listing' },
  { subtype: 'reload_skills' },
  // A server in this process, as the conversation's own will be, and gone again.
  { subtype: 'mcp_set_servers', servers: { [REHEARSAL]: { type: 'sdk', name: REHEARSAL } } },
  { subtype: 'mcp_status' },
  { subtype: 'mcp_set_servers', servers: {} },
  CONTEXT,
  CONTEXT,
  CONTEXT,
];

/**
 * A spare is asked a few things before it has a conversation. What it loads and compiles to answer
 * them it would otherwise do between its first message and its first model call; none of them calls a
 * model, reads the project or leaves a trace in the conversation.
 *
 * Resolves when it has answered, with its output silent and untouched; rejects when it ends before.
 */
async function wakeUp(process: LaunchedProcess, timeoutMs: number): Promise<void> {
  const { stdin, stdout } = process;
  const write = (message: Fields): void => void stdin.write(`${JSON.stringify(message)}\n`);
  let rest = '';
  let timer: NodeJS.Timeout | undefined;
  let onData: (chunk: Buffer) => void = () => undefined;
  const answered = new Promise<void>((resolve, reject) => {
    let asked = 0;
    const ask = (): void => {
      const request = QUESTIONS[asked];
      if (request === undefined) resolve();
      else write({ type: 'control_request', request_id: String(asked), request });
    };
    onData = (chunk) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const message = parse(line);
        const answer = serverAnswer(message);
        if (answer !== undefined) write(answer);
        // An error counts as well: another version of Claude Code need not know every question.
        if (fieldsOf(message['response'])['request_id'] !== String(asked)) continue;
        asked += 1;
        ask();
      }
    };
    void process.exited.then(({ stderr }) => reject(new Error(`It ended before it was needed: ${stderr}`)));
    timer = setTimeout(() => reject(new Error(`It did not answer within ${timeoutMs} ms`)), timeoutMs);
    ask();
  });
  stdout.on('data', onData);
  try {
    await answered;
  } finally {
    clearTimeout(timer);
    stdout.off('data', onData);
    stdout.pause();
  }
  // An incomplete line belongs to the next reader.
  if (rest !== '') stdout.unshift(Buffer.from(rest, 'utf8'));
}

/** The rehearsed server's part: it is there and has one tool. Undefined where nothing is asked of it. */
function serverAnswer(message: Fields): Fields | undefined {
  const request = fieldsOf(message['request']);
  if (message['type'] !== 'control_request' || request['subtype'] !== 'mcp_message') return undefined;
  const { id, method, params } = fieldsOf(request['message']);
  const response = {
    mcp_response: { jsonrpc: '2.0', id: id ?? 0, result: serverResult(method, fieldsOf(params)) },
  };
  return {
    type: 'control_response',
    response: { subtype: 'success', request_id: message['request_id'], response },
  };
}

function serverResult(method: unknown, { protocolVersion }: Fields): Fields {
  if (method === 'initialize') {
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: REHEARSAL, version: '1' } };
  }
  if (method === 'tools/list') {
    return { tools: [{ name: REHEARSAL, description: '', inputSchema: { type: 'object', properties: {} } }] };
  }
  return {};
}

function parse(line: string): Fields {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return {};
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
