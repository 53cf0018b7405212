/**
 * Processes of Claude Code, one for each conversation that is awake. Everything about the Agent SDK
 * that is about processes is hidden here: spares and new ones, a folder and a credential of their
 * own, going on from a transcript, ending, and cleaning up after a gateway that died.
 */
import type {
  CanUseTool,
  HookCallback,
  McpSdkServerConfigWithInstance,
  SDKMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import type { Message } from '../../../core/conversation.js';

export interface ClaudeProcesses {
  /**
   * Takes a spare where one fits and starts one otherwise. Rejects with GatewayError: `unavailable`
   * with the command that installs the SDK where it is absent; the end of the process's stderr where
   * it does not come up.
   */
  open(options: OpenOptions): Promise<ClaudeProcess>;
  /** Starts a spare for the next conversation of this profile where none is there; never rejects. */
  prepare(profile: ProcessProfile): void;
  /** Ends all of them, spares included, and removes their files. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** What does not change from one conversation to the next of a model: spares are kept by it. */
  profile: ProcessProfile;
  /** A folder in `profile.cwd` where a conversation goes on that had moved there; without, that one itself. */
  cwd?: string;
  /**
   * Behind Claude Code's own prompt and the project's AGENTS.md and CLAUDE.md (those of `profile.cwd`,
   * read when it is opened), or in the place of all of them.
   */
  system: { mode: 'append' | 'replace'; text: string };
  /** Whether the rules let one of those files be read; all of them without. */
  readable?: (path: string) => boolean;
  /** In-process MCP servers by name: `gateway`, and one for each that is configured. */
  servers: Readonly<Record<string, McpSdkServerConfigWithInstance>>;
  canUseTool: CanUseTool;
  hooks: {
    preToolUse: HookCallback;
    postToolUse: HookCallback;
    postToolUseFailure: HookCallback;
    subagentStart?: HookCallback;
  } & CompactionHooks;
  /**
   * The conversation so far, continued by the message that is sent first. It is empty or ends
   * with an assistant message: Claude Code asks its model only when it is sent something, so user
   * messages after the last assistant message (results of calls included) are sent, in one message,
   * and are no part of this. Where it ends with calls, that message begins with all of their results.
   * Throws a plain Error when it ends otherwise. Names of tools are those that Claude Code knows.
   * `incomingMessage` of processes/transcript-entries.ts makes the message to send from neutral ones.
   */
  history: readonly Message[];
  signal: AbortSignal;
}

/** Awaited by Claude Code on either side of summing up its conversation. */
export interface CompactionHooks {
  preCompact?: HookCallback;
  postCompact?: HookCallback;
}

export interface ProcessProfile {
  /** The folder that it works in. */
  cwd: string;
  /** The name that its model calls carry. */
  model: string;
  /** The gateway's own address. */
  baseUrl: string;
  /** Claude Code's own tools that are on. */
  tools: readonly string[];
  /** Of the model, for its own compaction; undefined where it is not known. */
  contextWindow?: number;
}

export interface ClaudeProcess {
  readonly pid: number;
  /**
   * The key that its model calls carry. It is made with the process, which may be older than the
   * conversation, so its opener has to accept it from then on and until `exited`.
   */
  readonly credential: string;
  /** It has not ended and is not being ended. */
  readonly alive: boolean;
  /** Whether it was waiting when it was asked for. */
  readonly fromSpare: boolean;
  send(message: SDKUserMessage): void;
  /** One reader. Ends when the process does. */
  readonly messages: AsyncIterator<SDKMessage, void>;
  /** Resolves when it is gone, for any reason. */
  readonly exited: Promise<{ code: number | null; signal: string | null; stderr: string }>;
  /** Ends it and whatever it started, and removes its files. */
  close(): Promise<void>;
}
