/**
 * `doctor --claude-code`: what of Claude Code works on which model, found out by running it. Each run has
 * a folder and a configuration of its own, so that nothing of the person's is read or changed.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { LoadedConfig } from '../config/load.js';
import type { JsonObject } from '../core/conversation.js';
import { isObject } from '../core/is-object.js';
import { isGlob } from '../routing/model-glob.js';
import { type Check, fail, ok, warn } from './checks/check.js';
import { claudeCode } from './clients/claude-code.js';
import { routerOf } from './clients/client.js';
import { findProgram, openSetting } from './launch.js';
import type { CliIo } from './shared/command.js';

interface Feature {
  name: string;
  prompt: string;
  args?: readonly string[];
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** Whether the result shows it; a text says why not. */
  judge(result: JsonObject, folder: string): boolean | Promise<boolean>;
}

/** Longer than a slow local model takes for two short turns. */
const RUN_MS = 5 * 60_000;
const SHOWN = 100;

const says = (word: string) => (result: JsonObject) =>
  String(result['result']).toLowerCase().includes(word.toLowerCase());

/** With a word that no model knows beforehand. */
function featuresOf(word: string): Feature[] {
  const schema = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  const command = `node -e "require('fs').writeFileSync('made.txt', '')"`;
  return [
    { name: 'answers', prompt: `Answer with this word and nothing else: ${word}`, judge: says(word) },
    {
      name: 'tools',
      prompt: 'Read the file note.txt with the Read tool. Answer with the word in it and nothing else.',
      args: ['--allowedTools', 'Read'],
      files: { 'note.txt': `${word}\n` },
      judge: says(word),
    },
    {
      name: 'images',
      prompt:
        'Read the file square.png with the Read tool. Answer with the name of its colour and nothing else.',
      args: ['--allowedTools', 'Read'],
      files: { 'square.png': redSquare() },
      judge: says('red'),
    },
    {
      name: 'structured output',
      prompt: `Give the word ${word}.`,
      args: ['--json-schema', JSON.stringify(schema)],
      judge: ({ structured_output: output }) => isObject(output) && String(output['word']).includes(word),
    },
    {
      name: 'auto mode',
      prompt: `Run this command with the Bash tool, once and as it is: ${command}`,
      args: ['--permission-mode', 'auto'],
      judge: (_, folder) =>
        access(join(folder, 'made.txt')).then(
          () => true,
          () => false,
        ),
    },
  ];
}

/** One line for each model. Starts a gateway where none listens. */
export async function checkClaudeFeatures(
  loaded: LoadedConfig,
  io: CliIo,
  given?: string,
): Promise<readonly Check[]> {
  const program = await findProgram(claudeCode, given, io.env);
  if (program === undefined) {
    return [fail('claude code', 'it is not installed', `install it with \`${claudeCode.install}\``)];
  }
  const models = modelsToTry(loaded);
  if (models.length === 0) return [fail('claude code', 'no model to try', 'configure one that is no agent')];
  const opened = await openSetting(loaded, io);
  try {
    const checks: Check[] = [];
    for (const wanted of models) {
      const { env } = await claudeCode.prepare({ ...opened.setting, wanted });
      checks.push(await checkModel(program, env, wanted));
    }
    return checks;
  } finally {
    await opened.close();
  }
}

/** Names that Claude Code asks for by itself. */
const TIERS = ['claude-opus-5-5', 'claude-sonnet-5', 'claude-haiku-4-5'];

/** Every name that is no agent, and of the patterns those that Claude Code's own names lead to. */
function modelsToTry({ config: { models } }: LoadedConfig): string[] {
  const router = routerOf(models);
  const named = Object.keys(models).filter((name) => !isGlob(name));
  const behind = new Map(TIERS.toReversed().map((name) => [router.route(name)?.pattern ?? '', name]));
  const patterns = [...behind].filter(([pattern]) => isGlob(pattern));
  const tried = [
    ...patterns.map(([pattern, name]) => ({ pattern, name })),
    ...named.map((name) => ({ pattern: name, name })),
  ];
  return tried.filter(({ pattern }) => models[pattern]?.engine === 'relay').map(({ name }) => name);
}

async function checkModel(program: string, env: NodeJS.ProcessEnv, model: string): Promise<Check> {
  const word = `Q${randomInt(1e6, 1e7)}`;
  const works: string[] = [];
  const missing: string[] = [];
  for (const feature of featuresOf(word)) {
    const problem = await tryFeature(program, env, feature);
    if (problem === undefined) works.push(feature.name);
    else missing.push(`${feature.name} (${problem})`);
    // Nothing else will work, and each would take its time to say so.
    if (works.length === 0) break;
  }
  if (works.length === 0) return fail('claude code', `${model}: does not answer`, missing.join('; '));
  const found = `${model}: ${works.join(', ')}`;
  return missing.length === 0
    ? ok('claude code', found)
    : warn('claude code', found, `not: ${missing.join('; ')}`);
}

/** Undefined where it works. */
async function tryFeature(
  program: string,
  env: NodeJS.ProcessEnv,
  { prompt, args = [], files = {}, judge }: Feature,
): Promise<string | undefined> {
  const root = await mkdtemp(join(tmpdir(), 'toolgate-doctor-'));
  try {
    const [folder, home] = [join(root, 'work'), join(root, 'home')];
    await mkdir(folder);
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const words = ['-p', prompt, '--output-format', 'json', '--max-turns', '8', ...args];
    const printed = await output(program, words, { cwd: folder, env: { ...env, CLAUDE_CONFIG_DIR: home } });
    const result = parseResult(printed);
    if (result === undefined) return `it printed ${JSON.stringify(printed.slice(-SHOWN))}`;
    if (result['is_error'] !== true && (await judge(result, folder))) return undefined;
    return JSON.stringify(String(result['result'] ?? result['subtype']).slice(0, SHOWN));
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

function parseResult(printed: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(printed);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What it writes; where it takes too long, what it has written by then. */
function output(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
      killSignal: 'SIGKILL',
    });
    let [out, said] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-1000);
    });
    child.once('error', reject).once('close', () => resolve(out === '' ? said : out));
  });
}

const SIDE = 64;

/** A picture that every model with eyes can name. */
function redSquare(): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  // Eight bits a channel, three channels.
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(SIDE * 3, Buffer.of(255, 0, 0))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => row)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
