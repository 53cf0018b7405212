/**
 * Scenarios: a folder before, calls of tools, what they answer, and the folder after. Each is a
 * folder of test/scenarios; each runs on a real file system through the real runtime and gate.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import * as z from 'zod';
import { configSchema } from '../../src/config/schema.js';
import type { ToolUseBlock } from '../../src/core/conversation.js';
import type { OpenToolState, ToolRunResult, ToolRuntime } from '../../src/tools/runtime/runtime.js';
import { openToolWorld } from './tool-world.js';

const FOLDER = fileURLToPath(new URL('../scenarios', import.meta.url));
const NAME = /^(\d{3})-[a-z0-9]+(?:-[a-z0-9]+)*$/;

const expectation = z.strictObject({
  /** The whole text of the result. */
  text: z.string().optional(),
  contains: z.array(z.string()).optional(),
  lacks: z.array(z.string()).optional(),
  matches: z.array(z.string()).optional(),
  error: z.boolean().default(false),
  outcome: z.string().optional(),
  images: z.int().optional(),
  documents: z.int().optional(),
});

const call = z.strictObject({
  call: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
  expect: expectation.prefault({}),
});

const step = z.union([
  call,
  z.strictObject({ run: z.string() }),
  z.strictObject({ calls: z.array(call).min(1) }),
]);

const scenarioSchema = z.strictObject({
  title: z.string().min(1),
  /** As in toolgate.yaml; left out, everything is allowed. */
  permissions: configSchema.shape.permissions.unwrap().prefault({ mode: 'allow' }),
  tools: configSchema.shape.tools,
  /** Who calls; `setup` and `run` are no one's. */
  principal: z.string().default('tester'),
  setup: z.string().optional(),
  steps: z.array(step).min(1),
  after_check: z.string().optional(),
});

type Step = z.output<typeof step>;
type ExpectedCall = z.output<typeof call>;

export interface Scenario extends z.output<typeof scenarioSchema> {
  name: string;
  number: string;
  folder: string;
}

/** In the order of their numbers. Throws for a folder that is not a scenario. */
export async function readScenarios(folder = FOLDER): Promise<Scenario[]> {
  const names = (await readdir(folder).catch(() => [])).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const number = NAME.exec(name)?.[1];
      if (number === undefined) throw new Error(`${name}: expected a name like 042-what-it-shows`);
      const own = join(folder, name);
      const parsed = scenarioSchema.safeParse(parse(await readFile(join(own, 'scenario.yaml'), 'utf8')));
      if (!parsed.success) throw new Error(`${name}: ${z.prettifyError(parsed.error)}`);
      return { ...parsed.data, name, number, folder: own };
    }),
  );
}

/** Runs it and returns every difference, as lines for people; none when all is as it should be. */
export async function runScenario(scenario: Scenario): Promise<string[]> {
  // By hand: scenarios run beside each other, where a test's own clean-up cannot be told apart.
  const base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-scenario-')));
  try {
    return await runIn(base, scenario);
  } finally {
    await rm(base, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runIn(base: string, scenario: Scenario): Promise<string[]> {
  const world = { root: join(base, 'workspace'), outside: join(base, 'outside'), home: join(base, 'home') };
  for (const path of Object.values(world)) await mkdir(path);
  await fill(join(scenario.folder, 'before'), world.root);
  if (scenario.setup !== undefined) await bash(scenario.setup, world);

  const after = join(scenario.folder, 'after');
  const unchanging = !(await exists(after));
  const problems: string[] = [];
  let standing = await treeOf(world.root);
  const checkStanding = async () => {
    if (unchanging) problems.push(...treeDifferences(standing, await treeOf(world.root)));
  };

  // Nobody is there to answer: what rules ask about is refused as unattended.
  const { permissions, tools } = scenario;
  const { runtime, close } = await openToolWorld({
    base,
    home: world.home,
    permissions,
    tools,
  });
  try {
    const session = await runtime.openToolState({
      id: 'scenario',
      principal: scenario.principal,
      workspace: { root: world.root, home: world.home },
    });
    for (const [index, item] of scenario.steps.entries()) {
      if ('run' in item) {
        await checkStanding();
        await bash(item.run, world);
        standing = await treeOf(world.root);
      } else {
        problems.push(...(await runStep(runtime, session, item, index, world)));
      }
    }
    await session.close();
  } finally {
    await close();
  }
  await checkStanding();
  if (!unchanging) problems.push(...treeDifferences(await treeOf(after), await treeOf(world.root)));
  if (scenario.after_check !== undefined) {
    const failure = await bash(scenario.after_check, world).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (failure !== undefined) problems.push(`after_check failed: ${failure}`);
  }
  return problems;
}

/** Git keeps no empty folders: a `.gitkeep` in one stands for nothing. */
async function fill(from: string, to: string): Promise<void> {
  if (!(await exists(from))) return;
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => basename(path) !== '.gitkeep',
  });
}

interface World {
  root: string;
  outside: string;
  home: string;
}

async function runStep(
  runtime: ToolRuntime,
  session: OpenToolState,
  item: Exclude<Step, { run: string }>,
  index: number,
  world: World,
): Promise<string[]> {
  const expected = 'calls' in item ? item.calls : [item];
  const results = await callTools(runtime, session, expected, index, world);
  return expected.flatMap((wanted, at) => {
    const label = `step ${index + 1}${expected.length > 1 ? `, call ${at + 1}` : ''} (${wanted.call})`;
    const result = results[at];
    return result === undefined
      ? [`${label}: no result`]
      : differences(wanted, result, world).map((line) => `${label}: ${line}`);
  });
}

async function callTools(
  runtime: ToolRuntime,
  session: OpenToolState,
  expected: readonly ExpectedCall[],
  index: number,
  world: World,
): Promise<ToolRunResult[]> {
  const offer = await runtime.offer({ selection: 'all', requested: [], session: session.id });
  const calls = expected.map(
    ({ call: name, input }, at): ToolUseBlock => ({
      type: 'tool_use',
      id: `toolu_${index}_${at}`,
      name,
      input: placed(input, world),
    }),
  );
  const results: ToolRunResult[] = [];
  const events = runtime.run({
    calls,
    offer,
    toolState: session,
    options: { commands: [], model: 'scenario', forkNumber: 0, logName: 'scenario' },
    signal: new AbortController().signal,
  });
  for await (const event of events) if (event.type === 'tool-result') results.push(event);
  return results;
}

function differences({ expect: wanted }: ExpectedCall, result: ToolRunResult, world: World): string[] {
  const text = result.content
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join('\n');
  const shown = indent(text.length > 3_000 ? `${text.slice(0, 3_000)}…` : text);
  const problems: string[] = [];
  const fail = (what: string) => problems.push(`${what}; the result was (${result.outcome}):\n${shown}`);
  if (result.isError !== wanted.error) fail(result.isError ? 'failed' : 'expected an error');
  if (wanted.outcome !== undefined && result.outcome !== wanted.outcome)
    fail(`expected outcome ${wanted.outcome}`);
  if (wanted.text !== undefined) {
    const whole = place(wanted.text, world);
    if (text !== whole)
      problems.push(`expected the text\n${indent(whole)}\ngot (${result.outcome})\n${shown}`);
  }
  for (const part of wanted.contains ?? []) {
    if (!text.includes(place(part, world))) fail(`expected it to contain ${JSON.stringify(part)}`);
  }
  for (const part of wanted.lacks ?? []) {
    if (text.includes(place(part, world))) fail(`expected it not to contain ${JSON.stringify(part)}`);
  }
  for (const pattern of wanted.matches ?? []) {
    if (!new RegExp(placePattern(pattern, world), 'm').test(text)) fail(`expected it to match /${pattern}/m`);
  }
  for (const [type, count] of [
    ['image', wanted.images],
    ['document', wanted.documents],
  ] as const) {
    const found = result.content.filter((block) => block.type === type).length;
    if (count !== undefined && found !== count) fail(`expected ${count} of type ${type}, got ${found}`);
  }
  return problems;
}

/** `$ROOT` and `$OUTSIDE` in every text of an input. */
function placed(input: Record<string, unknown>, world: World): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(placedValue(input, world));
}

function placedValue(value: unknown, world: World): unknown {
  if (typeof value === 'string') return place(value, world);
  if (Array.isArray(value)) return value.map((item) => placedValue(item, world));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, placedValue(item, world)]));
}

function place(text: string, places: Pick<World, 'root' | 'outside'>): string {
  return text.replace(/\$(?:ROOT|OUTSIDE)\b/g, (name) => (name === '$ROOT' ? places.root : places.outside));
}

function placePattern(pattern: string, { root, outside }: World): string {
  const literal = (path: string) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return place(pattern, { root: literal(root), outside: literal(outside) });
}

type Tree = Map<string, string>;

/** Every file, link and empty folder, as text: what it is and what is in it. */
async function treeOf(root: string, below = ''): Promise<Tree> {
  const tree: Tree = new Map();
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (path === '.git' || entry.name === '.gitkeep') continue;
    if (entry.isSymbolicLink()) tree.set(path, `link to ${await readlink(join(root, path))}`);
    else if (entry.isDirectory())
      for (const [name, content] of await treeOf(root, path)) tree.set(name, content);
    else if (entry.isFile()) tree.set(path, (await readFile(join(root, path))).toString('latin1'));
    else tree.set(path, 'neither file, folder nor link');
  }
  return tree;
}

function treeDifferences(expected: Tree, actual: Tree): string[] {
  const paths = new Set([...expected.keys(), ...actual.keys()]);
  return [...paths].toSorted().flatMap((path) => {
    const [wanted, found] = [expected.get(path), actual.get(path)];
    if (wanted === found) return [];
    if (found === undefined) return [`after: ${path} is missing`];
    if (wanted === undefined)
      return [`after: ${path} should not be there, it holds\n${indent(visible(found))}`];
    return [`after: ${path} should hold\n${indent(visible(wanted))}\nand holds\n${indent(visible(found))}`];
  });
}

function visible(content: string): string {
  const text = Buffer.from(content, 'latin1').toString('utf8');
  return JSON.stringify(text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text).replaceAll('\\n', '\\n\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '    | ');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** In the workspace, with the places as variables. Rejects with what it printed. */
function bash(script: string, { root, outside, home }: World): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      'bash',
      ['-euo', 'pipefail', '-c', script],
      {
        cwd: root,
        env: { PATH: process.env['PATH'] ?? '', HOME: home, ROOT: root, OUTSIDE: outside, LC_ALL: 'C.UTF-8' },
      },
      (error, stdout, stderr) =>
        error === null ? resolve() : reject(new Error(`${error.message}\n${stdout}${stderr}`)),
    );
  });
}
