/**
 * Processes of Claude Code, one for each conversation that is awake. Everything about the Agent SDK
 * that is about processes is behind this: starting warm or cold, a folder and a credential of their
 * own, going on from a transcript, ending, and cleaning up after a gateway that died.
 */
import type {
  CanUseTool,
  HookCallback,
  McpSdkServerConfigWithInstance,
  SDKMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import type { Message } from '../../core/conversation.js';

export interface ClaudeProcesses {
  /**
   * Takes a spare where one fits and starts one otherwise. Rejects with GatewayError: `unavailable`
   * with the command that installs the SDK where it is absent; the end of the process's stderr where
   * it does not come up.
   */
  open(options: OpenOptions): Promise<ClaudeProcess>;
  /** Ends all of them, spares included, and removes their files. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** What does not change from one conversation to the next of a model: spares are kept by it. */
  profile: ProcessProfile;
  /** Asked for by the conversation itself. */
  credential: string;
  /** Behind Claude Code's own prompt, or in its place. */
  system: { mode: 'append' | 'replace'; text: string };
  /** In-process MCP servers by name: `gateway`, and one for each that is configured. */
  servers: Readonly<Record<string, McpSdkServerConfigWithInstance>>;
  canUseTool: CanUseTool;
  hooks: { preToolUse: HookCallback; postToolUse: HookCallback; postToolUseFailure: HookCallback };
  /**
   * The conversation so far, to be gone on with by the message that is sent first. Where it ends with
   * calls of the assistant, that message brings their results.
   */
  history: readonly Message[];
  signal: AbortSignal;
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
  send(message: SDKUserMessage): void;
  /** One reader. Ends when the process does. */
  readonly messages: AsyncIterator<SDKMessage, void>;
  /** Resolves when it is gone, whoever ended it. */
  readonly exited: Promise<{ code: number | null; signal: string | null; stderr: string }>;
  /** Ends it and whatever it started, and removes its files. */
  close(): Promise<void>;
}
