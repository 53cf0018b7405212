/**
 * A spare is asked a few things before it has a conversation. What it loads and compiles to answer
 * them it would otherwise do between its first message and its first model call; none of them calls a
 * model, reads the project or leaves a trace in the conversation.
 */
import type { LaunchedProcess } from './launched-process.js';

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

/** Resolves when it has answered, with its output silent and untouched; rejects when it ends before. */
export async function warmUp(process: LaunchedProcess, timeoutMs: number): Promise<void> {
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
        // An error warms as well: another version of Claude Code need not know every question.
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
