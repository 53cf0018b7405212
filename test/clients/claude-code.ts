/** Claude Code as it is installed, unmodified, on a gateway. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { ClientProcess } from './client-process.js';
import type { Lane } from './lanes.js';
import { clientProgram } from './programs.js';
import type { Workspace } from './workspace.js';

export const CLAUDE_MODEL = 'claude-opus-5-5';

export interface ClaudeOptions {
  /** Without it, messages come over its input. */
  prompt?: string;
  model?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Tools that it need not ask about. */
  allowed?: readonly string[];
}

/** As root it refuses to skip permissions, so tools are allowed by name. */
const ALLOWED = ['Read', 'Edit', 'Write', 'Bash', 'Agent', 'NotebookEdit', 'TaskStop'];

const DEBUG_LOG = 'claude-debug.log';

/** Its settings, transcripts and temporary files stay in the home of the workspace. */
export const claudeEnvironment = (url: string, { home }: Workspace): Record<string, string> => ({
  HOME: home,
  TMPDIR: home,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'client-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
});

/** It prints what it does, and logs all that it decides. */
export const claudeArguments = ({ home }: Workspace, allowed: readonly string[] = ALLOWED): string[] => [
  '--output-format',
  'stream-json',
  '--verbose',
  '--include-partial-messages',
  '--debug-file',
  join(home, DEBUG_LOG),
  ...(allowed.length === 0 ? [] : ['--allowedTools', allowed.join(',')]),
];

export class ClaudeRun extends ClientProcess {
  readonly #lane: Lane;
  readonly #workspace: Workspace;

  constructor(lane: Lane, workspace: Workspace, options: ClaudeOptions) {
    const { prompt, model = CLAUDE_MODEL, args = [], env = {}, allowed } = options;
    const asked = prompt === undefined ? ['--input-format', 'stream-json'] : [prompt];
    super(
      clientProgram('Claude Code'),
      ['-p', ...asked, ...claudeArguments(workspace, allowed), '--model', model, ...args],
      {
        cwd: workspace.path,
        env: { ...claudeEnvironment(lane.gateway.url, workspace), ...env },
        interactive: prompt === undefined,
      },
    );
    this.#lane = lane;
    this.#workspace = workspace;
  }

  say(text: string): void {
    this.send({ type: 'user', message: { role: 'user', content: [{ type: 'text', text }] } });
  }

  interrupt(): void {
    this.send({ type: 'control_request', request_id: 'interrupt-1', request: { subtype: 'interrupt' } });
  }

  /** Resolves when some of the answer's words have come through. */
  async hears(text: string): Promise<void> {
    let heard = '';
    await this.event((event) => {
      const delta = isRecord(event['event']) ? event['event']['delta'] : undefined;
      if (isRecord(delta) && delta['type'] === 'text_delta') heard += delta['text'];
      return heard.includes(text);
    });
  }

  /** Resolves when it is over and everything went by the script, without a word of trouble. */
  async ends(): Promise<JsonRecord> {
    await this.exited;
    const { model, upstream } = this.#lane;
    expect(model.problems, this.report()).toEqual([]);
    expect(await this.troubles(), this.report()).toEqual([]);
    expect(model.left, this.report()).toEqual([]);
    expect(await this.exited, this.report()).toBe(0);
    const asked = upstream.requests.filter(({ method }) => method === 'POST');
    expect(asked).toHaveLength(model.played.length + model.tokenCounts.length);
    return this.result;
  }

  get result(): JsonRecord {
    const result = this.events.findLast(({ type }) => type === 'result');
    if (result === undefined) throw new Error(`Claude Code printed no result.\n${this.report()}`);
    return result;
  }

  /** Blocks that the model sent, as Claude Code understood them. */
  blocks(type: string): JsonRecord[] {
    return this.events
      .filter((event) => event['type'] === 'assistant')
      .flatMap(({ message }) =>
        isRecord(message) && Array.isArray(message['content']) ? message['content'] : [],
      )
      .filter((block): block is JsonRecord => isRecord(block) && block['type'] === type);
  }

  debugLog(): Promise<string> {
    return readFile(join(this.#workspace.home, DEBUG_LOG), 'utf8');
  }

  /** Retries, fallbacks and errors, by its own words; empty when there were none. */
  async troubles(): Promise<string[]> {
    const log = (await this.debugLog()).split('\n');
    const events = this.events.filter(isTrouble).map((event) => JSON.stringify(event).slice(0, 1000));
    return [...events, ...log.filter((line) => TROUBLE.test(line) && !HARMLESS.test(line))];
  }
}

/** In its debug log. Tests break streams on purpose to see that these lines come. */
const TROUBLE =
  /\[ERROR\]|API error|Error in API request|Error streaming|falling back|fallback triggered|non-streaming|Stream (ended|completed|idle|event)|Streaming (idle|endpoint)|Content block|retry(ing)? (attempt|in)/i;

/** It writes this on every new machine. */
const HARMLESS = /Failed to save config with lock/;

const TROUBLE_EVENTS = new Set([
  'api_retry',
  'api_error',
  'model_fallback',
  'model_refusal_fallback',
  'model_refusal_no_fallback',
  'permission_denied',
]);

/** What it says to the model itself when an answer broke off. */
const CUT_OFF = /cut off mid-stream/;

function isTrouble(event: JsonRecord): boolean {
  if (event['isSynthetic'] === true) return CUT_OFF.test(JSON.stringify(event['message']));
  if (event['type'] === 'system') return TROUBLE_EVENTS.has(String(event['subtype']));
  if (event['type'] === 'result') return event['is_error'] === true || event['subtype'] !== 'success';
  if (event['type'] !== 'assistant' || event['local_command_source'] !== undefined) return false;
  return event['error'] !== undefined || isApiError(event['message']);
}

/** Errors of the API are shown as an answer by a model of this name. */
const isApiError = (message: unknown): boolean => isRecord(message) && message['model'] === '<synthetic>';
