/** The environment of a Claude Code process, without anything of the gateway's own. */
import { join } from 'node:path';
import { commandEnvironment } from '../../../workspace/process/command-environment.js';
import type { ProcessProfile } from './claude-processes.js';

/** Found in `/proc/PID/environ` of the process and of all that it starts. */
export const PROCESS_ID_VARIABLE = 'TOOLGATE_CLAUDE_ID';

/** The key comes over this file descriptor, so that no command finds it in an environment. */
export const KEY_DESCRIPTOR = 3;

/** Transcripts lie under this name, whatever the folder is that it works in. */
export const TRANSCRIPT_FOLDER = 'conversation';

/** The folders of one process, inside its own. */
export const FOLDERS = {
  home: 'home',
  config: 'config',
  temporary: 'tmp',
} as const;

const FIXED: Readonly<Record<string, string>> = {
  CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: String(KEY_DESCRIPTOR),
  CLAUDE_CODE_PROJECT_DIR_NAME: TRANSCRIPT_FOLDER,
  // Nothing but model calls for a request may leave the machine.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  // The gateway retries, and an upstream's error has to reach the client as it is.
  CLAUDE_CODE_MAX_RETRIES: '0',
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_RETRY: '1',
  // After a 400 it would ask again without each of these.
  CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
  CLAUDE_CODE_THINKING_DISPLAY_UPDATES: '0',
  // What ends in the background would start an unsolicited turn.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // Of its two kinds of lists of things to do, the one that models know as TodoWrite.
  CLAUDE_CODE_ENABLE_TASKS: '0',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_DISABLE_WORKFLOWS: '1',
  CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
  // A memory of its own would be shared by all conversations in a folder, of all principals.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING: '1',
  // Client tools stay in sight, however many they are.
  ENABLE_TOOL_SEARCH: 'false',
  // A system block that changes from call to call and means nothing to other upstreams.
  CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
};

/** Every name under which it may ask for a model, so that all calls carry the profile's. */
const MODEL_VARIABLES: readonly string[] = [
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_SMALL_FAST_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
];

interface EnvironmentOptions {
  id: string;
  /** The process's own. */
  folder: string;
  profile: ProcessProfile;
  /** The gateway's; only what the table of passed variables names is taken. */
  base: Readonly<Record<string, string | undefined>>;
}

export function processEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { id, folder, profile, base } = options;
  const temporary = join(folder, FOLDERS.temporary);
  return {
    ...commandEnvironment(base),
    ...FIXED,
    ...Object.fromEntries(MODEL_VARIABLES.map((name) => [name, profile.model])),
    ...contextVariables(profile.contextWindow),
    ANTHROPIC_BASE_URL: profile.baseUrl,
    HOME: join(folder, FOLDERS.home),
    CLAUDE_CONFIG_DIR: join(folder, FOLDERS.config),
    CLAUDE_CODE_TMPDIR: temporary,
    TMPDIR: temporary,
    [PROCESS_ID_VARIABLE]: id,
  };
}

/** The first is for models that it does not know, the second for all. */
function contextVariables(tokens: number | undefined): Record<string, string> {
  if (tokens === undefined) return {};
  return { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(tokens), CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(tokens) };
}
