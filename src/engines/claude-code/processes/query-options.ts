/**
 * The options of the Agent SDK. `launchOptions` decide how the process is started, and are the same
 * for every conversation of a profile; all that differs between conversations is sent to the process
 * once it runs, so that it can be older than its conversation.
 */
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { instructionsBlock, readInstructions } from '../../agent/loop/system-prompt.js';
import type { OpenOptions, ProcessProfile } from './claude-processes.js';

interface Resumption {
  sessionId: string;
  /** The last entry that counts: without it, what looks unfinished would be filled in. */
  at: string;
}

interface LaunchPlan {
  profile: ProcessProfile;
  /** The profile's, or a folder in it. */
  cwd: string;
  environment: Readonly<Record<string, string>>;
  resumption: Resumption | undefined;
}

export function launchOptions({ profile, cwd, environment, resumption }: LaunchPlan): Options {
  return {
    cwd,
    // From a folder further in, commands could not go back to where they came from.
    ...(cwd === profile.cwd ? {} : { additionalDirectories: [profile.cwd] }),
    env: { ...environment },
    model: profile.model,
    tools: [...profile.tools],
    permissionMode: 'default',
    includePartialMessages: true,
    strictMcpConfig: true,
    // None: settings, hooks, servers and commands of a project or of this machine's user would run.
    settingSources: [],
    settings: {
      // What git says is read when the process starts, which may be long before its conversation; and
      // git runs what a repository's own configuration names.
      includeGitInstructions: false,
      attribution: { commit: '', pr: '' },
      crossSessionInbound: 'refuse',
    },
    ...(resumption === undefined ? {} : { resume: resumption.sessionId, resumeSessionAt: resumption.at }),
    // Only that there is one decides about the command line.
    canUseTool: async () => ({ behavior: 'deny', message: 'No conversation.' }),
  };
}

/** People answer in hours. The longest time that a timer takes is 24 days. */
const HOOK_TIMEOUT_S = 20 * 24 * 3600;

export type QueryOptions = Pick<OpenOptions, 'servers' | 'canUseTool' | 'hooks'> &
  Required<Pick<Options, 'systemPrompt'>>;

export function conversationOptions(options: QueryOptions): Options {
  const { systemPrompt, servers, canUseTool, hooks } = options;
  return {
    canUseTool,
    // Text of clients is not typed input: no commands, no @paths.
    verbatimPrompts: true,
    mcpServers: { ...servers },
    hooks: {
      PreToolUse: [{ hooks: [hooks.preToolUse], timeout: HOOK_TIMEOUT_S, onFailure: 'block' }],
      PostToolUse: [{ hooks: [hooks.postToolUse], timeout: HOOK_TIMEOUT_S }],
      PostToolUseFailure: [{ hooks: [hooks.postToolUseFailure], timeout: HOOK_TIMEOUT_S }],
      ...(hooks.subagentStart === undefined ? {} : { SubagentStart: [{ hooks: [hooks.subagentStart] }] }),
      ...(hooks.preCompact === undefined ? {} : { PreCompact: [{ hooks: [hooks.preCompact] }] }),
      ...(hooks.postCompact === undefined ? {} : { PostCompact: [{ hooks: [hooks.postCompact] }] }),
    },
    systemPrompt,
  };
}

type SystemOptions = Pick<OpenOptions, 'system' | 'readable'>;

/**
 * What is said to a conversation beside Claude Code's own prompt. It would read the project's
 * CLAUDE.md itself, but only with the project's settings and hooks, and when its process starts, which
 * may be long before. So the files are read here, now, and as the native agent reads them.
 *
 * A prompt in the place of Claude Code's own stands alone; an empty one replaces nothing.
 */
export async function systemPrompt(
  cwd: string,
  { system, readable = () => true }: SystemOptions,
): Promise<NonNullable<Options['systemPrompt']>> {
  const text = system.text.trim();
  if (system.mode === 'replace' && text !== '') return system.text;
  const instructions = instructionsBlock(await readInstructions({ root: cwd, cwd, readable }));
  const append = [instructions, text === '' ? undefined : system.text].filter((part) => part !== undefined);
  return {
    type: 'preset',
    preset: 'claude_code',
    ...(append.length === 0 ? {} : { append: append.join('\n\n') }),
  };
}
