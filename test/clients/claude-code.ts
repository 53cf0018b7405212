/** Claude Code as it is installed, unmodified, on a gateway. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { ClientProcess } from './client-process.js';
import { clientProgram } from './programs.js';
import type { Workspace } from './workspace.js';

export const CLAUDE_MODEL = 'claude-opus-5-5';

export interface ClaudeOptions {
  url: string;
  workspace: Workspace;
  prompt?: string;
  model?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Messages come over its input, with `send`. */
  interactive?: boolean;
}

/** As root it refuses to skip permissions, so tools are allowed by name. */
const ALLOWED = ['Read', 'Edit', 'Write', 'Bash', 'Agent', 'Task', 'Skill', 'NotebookEdit', 'WebFetch'];

const DEBUG_LOG = 'claude-debug.log';

export function claudeEnvironment(url: string, { home }: Workspace): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'client-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
}

/** Arguments that make it print what it does, and log all it decides. */
export const claudeArguments = ({ home }: Workspace): string[] => [
  '--output-format',
  'stream-json',
  '--verbose',
  '--debug-file',
  join(home, DEBUG_LOG),
  '--allowedTools',
  ALLOWED.join(','),
];

export class ClaudeRun extends ClientProcess {
  readonly #workspace: Workspace;

  constructor(options: ClaudeOptions) {
    const { url, workspace, prompt, model = CLAUDE_MODEL, args = [], env = {}, interactive = false } = options;
    super(
      clientProgram('Claude Code'),
      [
        '-p',
        ...(prompt === undefined ? [] : [prompt]),
        ...(interactive ? ['--input-format', 'stream-json'] : []),
        ...claudeArguments(workspace),
        '--model',
        model,
        ...args,
      ],
      { cwd: workspace.path, env: { ...claudeEnvironment(url, workspace), ...env }, interactive },
    );
    this.#workspace = workspace;
  }

  /** Its last result, once it has ended. */
  async result(): Promise<JsonRecord> {
    await this.exited;
    const result = this.events.findLast(({ type }) => type === 'result');
    if (result === undefined) throw new Error(`Claude Code printed no result.\n${this.report()}`);
    return result;
  }

  debugLog(): Promise<string> {
    return readFile(join(this.#workspace.home, DEBUG_LOG), 'utf8');
  }

  /** What went wrong on the way, by its own words: empty when it met no trouble. */
  async troubles(): Promise<string[]> {
    const log = (await this.debugLog()).split('\n').filter((line) => TROUBLE.test(line) && !HARMLESS.test(line));
    const events = this.events.filter(isTrouble).map((event) => JSON.stringify(event).slice(0, 1000));
    return [...events, ...log];
  }
}

/** Retries, falls back, repairs or gives up: in its debug log. */
const TROUBLE =
  /\[(ERROR|WARN)\]|retry|retrying|fall(ing)?[ -]?back to|API error|tengu_.*fallback|Content block|unreadable|malformed|non-streaming|idle timeout/i;

/** What it writes on every new machine, whatever the endpoint. */
const HARMLESS =
  /Failed to save config with lock|auto mode disabled|Config fallback|unrecognized_model|Skipped|ENOENT/;

const TROUBLE_EVENTS = new Set([
  'api_retry',
  'api_error',
  'model_fallback',
  'model_refusal_fallback',
  'permission_denied',
]);

function isTrouble(event: JsonRecord): boolean {
  if (event['type'] === 'system') return TROUBLE_EVENTS.has(String(event['subtype']));
  if (event['type'] === 'result') return event['is_error'] === true || event['subtype'] !== 'success';
  return event['type'] === 'assistant' && (event['error'] !== undefined || isApiError(event['message']));
}

/** Errors of the API are shown as an answer by a model of this name. */
const isApiError = (message: unknown): boolean => isRecord(message) && message['model'] === '<synthetic>';
