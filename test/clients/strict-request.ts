/**
 * The rules by which the strictest upstream of each wire refuses a request. Throws where the real
 * one would answer 400.
 */
import { isRecord, type JsonRecord } from '../support/violation.js';
import type { SeenRequest, SeenTurn } from './read-request.js';

/** Fields of the client's wire that no other wire knows. */
const ANTHROPIC_ONLY = ['context_management', 'output_config', 'cache_control', 'defer_loading', 'metadata'];

const LIMITS = {
  'openai-chat': { id: 40, name: /^[a-zA-Z0-9_-]{1,64}$/ },
  'openai-responses': { id: 64, name: /^[a-zA-Z0-9_-]{1,64}$/ },
  'anthropic-messages': { id: 64, name: /^[a-zA-Z0-9_-]{1,128}$/ },
} as const;

class Refused extends Error {
  override readonly name = 'Refused';
}

function hold(holds: boolean, reason: string, value?: unknown): void {
  if (!holds)
    throw new Refused(value === undefined ? reason : `${reason}: ${JSON.stringify(value).slice(0, 400)}`);
}

/** What the tests' clients send as their key. */
const CLIENT_KEY = 'client-key';

export function checkRequest(seen: SeenRequest): void {
  const { recorded } = seen;
  hold(!recorded.head.includes(CLIENT_KEY), "the client's credential must not come here");
  checkPairs(seen);
  checkTools(seen);
  if (seen.dialect === 'anthropic-messages') {
    hold(
      /^\d{4}-\d{2}-\d{2}$/.test(seen.recorded.headers['anthropic-version'] ?? ''),
      'anthropic-version is missing',
    );
    checkThinking(seen.body);
    return;
  }
  for (const field of ANTHROPIC_ONLY)
    hold(!(field in seen.body), `Unknown parameter: '${field}'`, seen.body[field]);
  hold(!seen.recorded.text.includes('"cache_control"'), 'cache_control is unknown here');
  hold(!seen.instructions.includes('x-anthropic-billing-header'), 'the billing line changes every request');
  if (seen.dialect === 'openai-chat') checkChatMessages(seen.body);
}

/** Anthropic's smallest budget for thinking. */
const LEAST_BUDGET = 1024;

/** What Anthropic refuses about thinking, in its words. Throws where it does. */
export function checkThinking(body: JsonRecord): void {
  const { thinking, max_tokens: most, tool_choice: choice, temperature, context_management: edits } = body;
  const { type, budget_tokens: budget } = isRecord(thinking) ? thinking : {};
  const thinks = type === 'enabled' || type === 'adaptive';
  if (type === 'enabled') {
    hold(typeof budget === 'number', 'thinking.enabled.budget_tokens: Field required', thinking);
    hold(
      Number(budget) >= LEAST_BUDGET,
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    );
    hold(Number(most) > Number(budget), '`max_tokens` must be greater than `thinking.budget_tokens`', [
      most,
      budget,
    ]);
  } else hold(budget === undefined, 'thinking.budget_tokens: Extra inputs are not permitted', thinking);
  if (thinks) {
    const forced = isRecord(choice) && (choice['type'] === 'any' || choice['type'] === 'tool');
    hold(!forced, 'Thinking may not be enabled when tool_choice forces tool use.', choice);
    hold(
      temperature === undefined || temperature === 1,
      '`temperature` may only be set to 1 when thinking is enabled',
    );
  } else {
    const clears = JSON.stringify(edits ?? '').includes('clear_thinking');
    hold(!clears, '`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive', edits);
  }
}

/** Every call is answered by the turn that follows it, each result answers a call of the turn before. */
function checkPairs({ dialect, turns }: SeenRequest): void {
  const { id: limit } = LIMITS[dialect];
  let open: string[] = [];
  for (const turn of turns) {
    if (turn.role === 'tool') {
      const answered = turn.results.map(({ id }) => id);
      hold(
        open.toSorted().join() === answered.toSorted().join(),
        `the calls ${open} got the results ${answered}`,
      );
      open = [];
      continue;
    }
    hold(open.length === 0, `the calls ${open} have no result before the next message`, turn);
    if (turn.role === 'assistant') {
      open = turn.calls.map(({ id }) => id);
      hold(new Set(open).size === open.length, `ids are used twice: ${open}`);
      hold(
        open.every((id) => id !== '' && id.length <= limit),
        `an id is too long or empty: ${open}`,
      );
      hold(
        turn.calls.every(({ input }) => typeof input === 'string' || isRecord(input)),
        'arguments are no object',
        turn.calls,
      );
    }
  }
  hold(open.length === 0, `the calls ${open} have no result`);
  hold(turns.some(isAskable), 'there is nothing to answer');
}

const isAskable = (turn: SeenTurn): boolean => turn.role === 'user' || turn.role === 'tool';

function checkTools({ dialect, body, tools }: SeenRequest): void {
  hold(new Set(tools).size === tools.length, 'Tool names must be unique', tools);
  const { tools: declared } = body;
  hold(
    declared === undefined || (Array.isArray(declared) && (declared.length > 0 || dialect !== 'openai-chat')),
    'tools is empty',
    declared,
  );
  if (dialect === 'anthropic-messages' || !Array.isArray(declared)) return;
  for (const tool of declared.filter(isRecord)) {
    if (tool['type'] !== 'function') {
      hold(dialect === 'openai-responses', 'a tool of chat completions is a function', tool);
      continue;
    }
    checkFunction(
      dialect === 'openai-chat' && isRecord(tool['function']) ? tool['function'] : tool,
      LIMITS[dialect].name,
    );
  }
}

function checkFunction({ name, parameters }: JsonRecord, pattern: RegExp): void {
  hold(typeof name === 'string' && pattern.test(name), 'Invalid function name', name);
  hold(isRecord(parameters), `the function ${name} has no parameters`, parameters);
  if (!isRecord(parameters)) return;
  hold(parameters['type'] === 'object', `the parameters of ${name} are no object`, parameters);
  hold(isRecord(parameters['properties']), `the parameters of ${name} have no properties`, parameters);
}

const CHAT_PARTS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  system: new Set(['text']),
  developer: new Set(['text']),
  user: new Set(['text', 'image_url', 'input_audio', 'file']),
  assistant: new Set(['text', 'refusal']),
  tool: new Set(['text']),
};

function checkChatMessages({ messages }: JsonRecord): void {
  hold(Array.isArray(messages) && messages.length > 0, 'messages is empty');
  for (const message of Array.isArray(messages) ? messages.filter(isRecord) : []) {
    const { role, content } = message;
    const allowed = CHAT_PARTS[String(role)];
    hold(allowed !== undefined, 'Invalid role', role);
    if (Array.isArray(content)) {
      hold(content.length > 0, `the content of a ${role} message is an empty array`);
      for (const part of content)
        hold(
          isRecord(part) && allowed?.has(part['type']) === true,
          `Invalid part of a ${role} message`,
          part,
        );
      continue;
    }
    const mayBeNull = role === 'assistant' && Array.isArray(message['tool_calls']);
    hold(
      typeof content === 'string' || (content === null && mayBeNull),
      `Invalid content of a ${role} message`,
      content,
    );
  }
}
