/** Starts a process for a profile: its folder, its key, its command line, and what it resumes from. */
import { randomBytes } from 'node:crypto';
import type { Options, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Message } from '../../../core/conversation.js';
import type { RuntimeLog } from '../../../tools/runtime/runtime-log.js';
import type { ProcessProfile } from './claude-processes.js';
import { type LaunchCommand, type LaunchedProcess, launch } from './launched-process.js';
import type { ClaudeSdk } from './load-sdk.js';
import { processEnvironment } from './process-environment.js';
import { createFolder, removeFolder } from './process-folder.js';
import { launchOptions } from './query-options.js';
import { transcriptOf } from './transcript-entries.js';

interface StartContext {
  sdk: ClaudeSdk;
  stateDir: string;
  environment: Readonly<Record<string, string | undefined>>;
  now: () => number;
  log: RuntimeLog;
}

export interface StartedProcess {
  launched: LaunchedProcess;
  options: Options;
}

/** Rejects with GatewayError where the program does not start; nothing is left then. */
export async function startProcess(
  context: StartContext,
  profile: ProcessProfile,
  { history, cwd }: { history: readonly Message[]; cwd: string },
): Promise<StartedProcess> {
  const { sdk, stateDir, environment, now, log } = context;
  const transcript = transcriptOf(history, { cwd, model: profile.model, now: now() });
  if (transcript !== undefined && transcript.losses.length > 0) {
    log.info({ losses: transcript.losses }, 'not all of a conversation could be given to Claude Code');
  }
  const folder = await createFolder(stateDir, transcript);
  try {
    const options = launchOptions({
      profile,
      cwd,
      environment: processEnvironment({ id: folder.id, folder: folder.path, profile, base: environment }),
      resumption: transcript && { sessionId: transcript.sessionId, at: transcript.at },
    });
    const credential = `tgc_${randomBytes(24).toString('base64url')}`;
    return { launched: await launch(folder, commandOf(sdk, options), credential), options };
  } catch (error) {
    await removeFolder(folder.path);
    throw error;
  }
}

/** The SDK's own command line for these options: it is asked to start a process, and refused. */
function commandOf(sdk: ClaudeSdk, options: Options): LaunchCommand {
  let command: LaunchCommand | undefined;
  const refusal = new Error('Only the command line was wanted');
  try {
    sdk.query({
      prompt: noMessages(),
      options: {
        ...options,
        spawnClaudeCodeProcess: ({ command: program, args, cwd, env }) => {
          command = { command: program, args, env, ...(cwd === undefined ? {} : { cwd }) };
          throw refusal;
        },
      },
    });
  } catch (error) {
    if (error !== refusal || command === undefined) throw error;
    return command;
  }
  throw new Error('The Agent SDK did not start a process when it was asked to');
}

async function* noMessages(): AsyncGenerator<SDKUserMessage, void> {}
