/** Processes of the real Claude Code on a scripted model. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { onTestFinished } from 'vitest';
import type { Block, Message } from '../../src/core/conversation.js';
import type {
  ClaudeProcess,
  ClaudeProcesses,
  OpenOptions,
  ProcessProfile,
} from '../../src/engines/claude-code/processes/claude-processes.js';
import {
  type ClaudeProcessesOptions,
  createClaudeProcesses,
} from '../../src/engines/claude-code/processes/create-claude-processes.js';
import { rootFolder } from '../../src/engines/claude-code/processes/process-folder.js';
import { incomingMessage } from '../../src/engines/claude-code/processes/transcript-entries.js';
import { SILENT } from '../../src/tools/runtime/runtime.js';
import { tempFolder } from './cleanup.js';
import { inDialect } from './scripted-answers.js';
import {
  type RecordedRequest,
  type ScriptedUpstream,
  type ScriptFunction,
  startUpstream,
} from './scripted-upstream.js';
import { textAnswer } from './wire.js';

export const user = (...content: (string | Block)[]): Message => ({
  role: 'user',
  content: content.map((each) => (typeof each === 'string' ? { type: 'text', text: each } : each)),
});

export const assistant = (...content: (string | Block)[]): Message => ({
  ...user(...content),
  role: 'assistant',
});

/** What the model was told, without what Claude Code adds for itself. */
export interface Told {
  role: string;
  content: unknown[];
}

export class Bench {
  readonly upstream: ScriptedUpstream;
  readonly processes: ClaudeProcesses;
  readonly stateDir: string;
  readonly profile: ProcessProfile;

  constructor(
    upstream: ScriptedUpstream,
    processes: ClaudeProcesses,
    stateDir: string,
    profile: ProcessProfile,
  ) {
    this.upstream = upstream;
    this.processes = processes;
    this.stateDir = stateDir;
    this.profile = profile;
  }

  open(options: Partial<OpenOptions> = {}): Promise<ClaudeProcess> {
    return this.processes.open({
      profile: this.profile,
      system: { mode: 'append', text: 'Appended for this conversation.' },
      servers: {},
      canUseTool: async (_name, input) => ({ behavior: 'allow', updatedInput: input }),
      hooks: {
        preToolUse: async () => ({}),
        postToolUse: async () => ({}),
        postToolUseFailure: async () => ({}),
      },
      history: [],
      signal: new AbortController().signal,
      ...options,
    });
  }

  /** Names of the folders of processes that are there. */
  async folders(): Promise<string[]> {
    return await readdir(rootFolder(this.stateDir)).catch(() => []);
  }

  /** The bodies of model calls. */
  calls(): RecordedRequest[] {
    return this.upstream.requests.filter(({ path }) => path.startsWith('/v1/messages?'));
  }

  /** The messages of the last model call. */
  told(): Told[] {
    return toldBy(this.calls().at(-1));
  }
}

export interface BenchOptions extends Partial<ClaudeProcessesOptions> {
  script?: ScriptFunction;
  profile?: Partial<ProcessProfile>;
}

/** The model says `Fine.` to everything unless told otherwise. Spares are off unless asked for. */
export async function createBench(options: BenchOptions = {}): Promise<Bench> {
  const { script = inDialect(textAnswer('Fine.')), profile, ...rest } = options;
  const upstream = await startUpstream(script);
  const { path } = await tempFolder();
  const stateDir = options.stateDir ?? join(path, 'state');
  const cwd = join(path, 'work');
  await mkdir(cwd);
  const processes = createClaudeProcesses({ stateDir, log: SILENT, spares: 0, ...rest });
  onTestFinished(() => processes.close());
  return new Bench(upstream, processes, stateDir, {
    cwd,
    model: 'claude-sonnet-5',
    baseUrl: upstream.url,
    tools: ['Read', 'Bash'],
    ...profile,
  });
}

/** Sends it and reads to the end of the turn. */
export async function say(process: ClaudeProcess, ...messages: Message[]): Promise<SDKMessage[]> {
  process.send(incomingMessage(messages).message);
  return await readTo(process, 'result');
}

export async function readTo(process: ClaudeProcess, type: SDKMessage['type']): Promise<SDKMessage[]> {
  const seen: SDKMessage[] = [];
  for (;;) {
    const { value, done } = await process.messages.next();
    if (done === true || value === undefined) {
      const { stderr } = await process.exited;
      throw new Error(`It ended before a ${type}: ${stderr}`);
    }
    seen.push(value);
    if (value.type === type) return seen;
  }
}

function toldBy(request: RecordedRequest | undefined): Told[] {
  const messages = request?.json['messages'];
  if (!Array.isArray(messages)) throw new Error('The model was not asked');
  return messages.flatMap((message: unknown) => {
    if (!isObject(message) || message['role'] === 'system') return [];
    const { role, content } = message;
    const blocks: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
    const own = blocks.filter((block) => !isReminder(block)).map(withoutCacheMark);
    return [{ role: String(role), content: own }];
  });
}

const OWN_REMINDER = /^<system-reminder>\n(?:Codebase and user instructions|As you answer)/;

const isReminder = (block: unknown): boolean =>
  isObject(block) && typeof block['text'] === 'string' && OWN_REMINDER.test(block['text']);

function withoutCacheMark(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { cache_control: _, ...rest } = block;
  return rest;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
