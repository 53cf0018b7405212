/** Coding agents as they are installed, unmodified, each set up as docs/clients.md says. */
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { DialectName } from '../../src/core/conversation.js';
import { isRecord } from '../support/violation.js';
import { type CallPart, call } from '../support/wire.js';
import { ClientProcess } from './client-process.js';
import type { Lane } from './lanes.js';
import { clientProgram } from './programs.js';
import type { Workspace } from './workspace.js';

export interface CodingRun {
  lane: Lane;
  workspace: Workspace;
  model: string;
  prompt: string;
  /** Goes on with the conversation of the run before. */
  goOn?: boolean;
}

export interface CodingProgram {
  name: string;
  /** The wire that it speaks to the gateway. */
  dialect: DialectName;
  /** Writes its configuration. */
  setUp(run: CodingRun): Promise<void>;
  start(run: CodingRun): ClientProcess;
  /** The last words of the model, as it shows them. */
  lastWords(process: ClientProcess): string;
  /** A call of its tool that writes a file. */
  write(id: string, path: string, content: string): CallPart;
  /** A call of its tool that runs a command. */
  run(id: string, command: string): CallPart;
  /** It takes no prompt for a conversation that it resumes without a terminal. */
  resumesInTerminalOnly?: boolean;
  /** A resumed conversation begins with other words than it did, so that it is a new one to anybody else. */
  rewritesHistory?: boolean;
  /** Whether it also asks for a title or the like. */
  isAside?(instructions: string): boolean;
}

async function put(path: string, content: string | object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}

/** Clients that need a newer Node than the gateway does. */
const node = (): string => clientProgram('Node 24');

interface Launch {
  program: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

const launch = ({ workspace }: CodingRun, { program, args, env = {} }: Launch): ClientProcess =>
  new ClientProcess(program, args, {
    cwd: workspace.path,
    env: {
      PATH: [dirname(node()), process.env['PATH'] ?? ''].join(delimiter),
      HOME: workspace.home,
      TMPDIR: workspace.home,
      ...env,
    },
  });

const textIn = (value: unknown): string =>
  (Array.isArray(value) ? value : [])
    .filter(isRecord)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => String(text))
    .join('');

const opencode: CodingProgram = {
  name: 'opencode',
  dialect: 'openai-chat',
  setUp: ({ lane, workspace, model }) =>
    put(join(workspace.home, '.config/opencode/opencode.json'), {
      autoupdate: false,
      provider: {
        toolgate: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Toolgate',
          options: { baseURL: `${lane.gateway.url}/v1`, apiKey: 'client-key' },
          models: { [model]: {} },
        },
      },
    }),
  start: (run) =>
    launch(run, {
      program: clientProgram('opencode'),
      args: [
        'run',
        '--format=json',
        '--auto',
        '--model',
        `toolgate/${run.model}`,
        ...(run.goOn ? ['--continue'] : []),
        run.prompt,
      ],
      env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    }),
  lastWords: ({ events }) => {
    const texts = events.filter(({ type }) => type === 'text').map(({ part }) => part);
    return (
      texts
        .filter(isRecord)
        .map(({ text }) => String(text))
        .at(-1) ?? ''
    );
  },
  write: (id, path, content) => call('write', { filePath: path, content }, id),
  run: (id, command) => call('bash', { command, description: 'Runs a command' }, id),
  isAside: (instructions) => instructions.includes('title generator'),
};

const pi: CodingProgram = {
  name: 'pi',
  dialect: 'anthropic-messages',
  setUp: ({ lane, workspace, model }) =>
    put(join(workspace.home, '.pi/agent/models.json'), {
      providers: {
        toolgate: {
          baseUrl: lane.gateway.url,
          api: 'anthropic-messages',
          apiKey: 'client-key',
          models: [{ id: model }],
        },
      },
    }),
  start: (run) =>
    launch(run, {
      program: node(),
      args: [
        clientProgram('pi'),
        '--mode',
        'json',
        '--print',
        '--offline',
        '--provider',
        'toolgate',
        '--model',
        run.model,
        ...(run.goOn ? ['--continue'] : []),
        run.prompt,
      ],
    }),
  lastWords: ({ events }) => {
    const ends = events.filter(({ type }) => type === 'turn_end').map(({ message }) => message);
    return textIn(ends.filter(isRecord).at(-1)?.['content']);
  },
  write: (id, path, content) => call('write', { path, content }, id),
  run: (id, command) => call('bash', { command }, id),
};

const qwenCode: CodingProgram = {
  name: 'qwen-code',
  dialect: 'openai-chat',
  setUp: () => Promise.resolve(),
  start: (run) =>
    launch(run, {
      program: node(),
      args: [
        clientProgram('qwen-code'),
        '--output-format=stream-json',
        '--auth-type=openai',
        '--yolo',
        ...(run.goOn ? ['--continue'] : []),
        '--prompt',
        run.prompt,
      ],
      env: {
        OPENAI_BASE_URL: `${run.lane.gateway.url}/v1`,
        OPENAI_API_KEY: 'client-key',
        OPENAI_MODEL: run.model,
      },
    }),
  lastWords: ({ events }) => String(events.find(({ type }) => type === 'result')?.['result']),
  write: (id, path, content) => call('write_file', { file_path: path, content }, id),
  run: (id, command) => call('run_shell_command', { command, is_background: false }, id),
  rewritesHistory: true,
  isAside: (instructions) => instructions.includes('acting as the managed memory extraction subagent'),
};

const cline: CodingProgram = {
  name: 'Cline',
  dialect: 'openai-chat',
  resumesInTerminalOnly: true,
  setUp: async (run) => {
    const { lane, model, workspace } = run;
    const args = ['auth', '--provider=openai-compatible', '--apikey=client-key', `--modelid=${model}`];
    const asked = launch(run, {
      program: clientProgram('Cline'),
      args: [...args, `--baseurl=${lane.gateway.url}/v1`, `--data-dir=${workspace.home}/cline`],
    });
    if ((await asked.exited) !== 0) throw new Error(asked.report());
  },
  start: (run) =>
    launch(run, {
      program: clientProgram('Cline'),
      args: [
        '--json',
        '--provider=openai-compatible',
        `--model=${run.model}`,
        `--data-dir=${run.workspace.home}/cline`,
        run.prompt,
      ],
    }),
  lastWords: ({ events }) => String(events.find(({ type }) => type === 'run_result')?.['text']),
  write: (id, path, content) => call('editor', { path, new_text: content }, id),
  run: (id, command) => call('run_commands', { commands: [command] }, id),
};

const continueCli: CodingProgram = {
  name: 'Continue',
  dialect: 'openai-chat',
  setUp: ({ lane, workspace, model }) =>
    put(join(workspace.home, '.continue/config.yaml'), {
      name: 'toolgate',
      version: '1.0.0',
      schema: 'v1',
      models: [
        {
          name: model,
          provider: 'openai',
          model,
          apiBase: `${lane.gateway.url}/v1`,
          apiKey: 'client-key',
          roles: ['chat'],
          capabilities: ['tool_use'],
        },
      ],
    }),
  start: (run) =>
    launch(run, {
      program: node(),
      args: [
        clientProgram('Continue'),
        '--config',
        join(run.workspace.home, '.continue/config.yaml'),
        '--auto',
        ...(run.goOn ? ['--resume'] : []),
        '--print',
        run.prompt,
      ],
      env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    }),
  lastWords: ({ words }) => words.at(-1) ?? '',
  write: (id, path, content) => call('Write', { filepath: path, content }, id),
  run: (id, command) => call('Bash', { command }, id),
};

export const CODING_PROGRAMS: readonly CodingProgram[] = [opencode, pi, qwenCode, cline, continueCli];
