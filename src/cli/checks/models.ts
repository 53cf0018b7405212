/** Who answers, and with which tools of one's own: said by `start` and `doctor` alike. */
import { statSync } from 'node:fs';
import type { LoadedConfig } from '../../config/load.js';
import { resolveModelCwd } from '../../config/paths.js';
import type { Config } from '../../config/schema.js';
import {
  type CheckOptions,
  checkClaudeCode,
  SDK_SIZE,
} from '../../engines/claude-code/processes/load-sdk.js';
import { LIST_PRICES } from '../../upstreams/list-prices.js';
import { type Check, fail, ok, warn } from './check.js';

/** Names of one line; more of them bury the rest. */
const SHOWN = 6;

interface Here {
  /** The folder that the command runs in, which is that of agents without a `cwd`. */
  cwd: string;
  program: string;
}

/** Which names are answered, and which agents have no folder to work in. */
export function checkModels(loaded: LoadedConfig, here: Here): Check[] {
  return [namesOf(loaded, here), ...missingFolders(loaded, here)];
}

function namesOf({ config: { models, upstreams }, file }: LoadedConfig, { program }: Here): Check {
  const names = Object.keys(models);
  if (names.length === 0) {
    return fail(
      'models',
      `${file ?? 'the configuration'} names no model, so every request is refused`,
      `add \`models\`, for example \`models: { "*": { upstream: demo } }\`, or have \`${program} init --force\` write the file anew`,
    );
  }
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  const finding = `${names.slice(0, SHOWN).join(', ')}${more}`;
  if (Object.values(upstreams).some(({ dialect }) => dialect !== 'demo')) return ok('models', finding);
  return warn(
    'models',
    `No model is connected: the embedded demo model answers for ${finding}`,
    file === undefined
      ? `set ANTHROPIC_API_KEY or OPENAI_API_KEY (or another provider's) and start again, or run \`${program} init\` to write a toolgate.yaml`
      : `add one to \`upstreams\` and \`models\` in ${file}`,
  );
}

function missingFolders({ config, baseDir }: LoadedConfig, { cwd: startDir }: Here): Check[] {
  return Object.entries(config.models).flatMap(([name, model]) => {
    if (model.engine === 'relay') return [];
    const folder = resolveModelCwd(model, { baseDir, startDir });
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) return [];
    const problem = found === undefined ? 'does not exist' : 'is not a folder';
    return [
      fail(
        'models',
        `${name} has no folder to work in: ${folder} ${problem}`,
        found === undefined ? `mkdir -p ${folder}, or change its \`cwd\`` : 'change its `cwd`',
      ),
    ];
  });
}

/** What usage and budgets are counted by, and for whom nothing is listed. */
export function checkPrices({ upstreams }: Pick<Config, 'upstreams'>): Check[] {
  const names = Object.keys(upstreams).filter((name) => upstreams[name]?.dialect !== 'demo');
  if (names.length === 0) return [];
  const listed = LIST_PRICES.of(upstreams);
  const found = names.filter((name) => listed.has(name));
  const missing = names.filter((name) => !listed.has(name));
  const { date } = LIST_PRICES;
  const own = 'only models with a `price` have a cost';
  const findings = [
    ...(found.length === 0 ? [] : [`list prices of ${date} for models of ${found.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`nothing is listed for ${missing.join(', ')}: ${own}`]),
  ];
  return [ok('prices', findings.join('; '))];
}

const SUBJECT = 'claude-code';

/** Whether the engine `claude-code` can be used, where a model asks for it or, without a file, would. */
export async function checkClaudeCodeEngine(
  { config: { models }, origin }: Pick<LoadedConfig, 'config' | 'origin'>,
  program: string,
  options: CheckOptions = {},
): Promise<Check[]> {
  const names = Object.keys(models).filter((name) => models[name]?.engine === 'claude-code');
  if (names.length === 0 && origin !== 'environment') return [];
  const found = await checkClaudeCode(options);
  if (found.ok) return [ok(SUBJECT, `Agent SDK ${found.sdkVersion}, ${found.binary}`)];
  if (names.length > 0)
    return [fail(SUBJECT, found.problem, `or use another engine for ${names.join(', ')}`)];
  if (!found.addable) return [];
  return [
    warn(
      SUBJECT,
      'Claude Code is not installed, so there is no model claude-code',
      `to have it, run \`${program} add claude-code\` (${SDK_SIZE}) and start again`,
    ),
  ];
}

/** Shorter than the gateway's own: a person waits. */
const LOAD_MS = 10_000;

/** Loads what `tools.paths` names, as the gateway would, and asks which of it agents get. */
export async function checkOwnTools(config: Config['tools'], baseDir: string): Promise<Check[]> {
  if (config.paths.length === 0) return [];
  // Most gateways have none: loading every tool is a tenth of a start.
  const [{ createBuiltIns }, { createOwnTools }, { createRegistry }, { SILENT }] = await Promise.all([
    import('../../tools/built-ins.js'),
    import('../../tools/runtime/own-tools.js'),
    import('../../tools/runtime/registry.js'),
    import('../../tools/runtime/runtime.js'),
  ]);
  const own = createOwnTools({ paths: config.paths, baseDir, log: SILENT, loadMs: LOAD_MS });
  const registry = createRegistry({ sources: [createBuiltIns(config), own], log: SILENT });
  const listed = (await registry.list()).filter(({ source }) => source === 'own');
  const problems = (await own.problems?.()) ?? [];
  const broken = new Set(problems.map(({ name }) => name));
  const loaded = listed.filter(({ name }) => !broken.has(name));
  const names = loaded.filter(({ enabled }) => enabled).map(({ name }) => name);
  return [
    ...(names.length > 0 ? [ok('own tools', names.join(', '))] : []),
    ...(listed.length === 0 ? [ok('own tools', 'none in the folders of `tools.paths`')] : []),
    ...loaded
      .filter(({ enabled }) => !enabled)
      .map(({ name, reason = '' }) => warn('own tools', `${name} is off`, reason)),
    ...problems.map(({ name, reason }) =>
      fail('own tools', `${name}: ${reason}`, 'correct it, or take it out of `tools.paths`'),
    ),
  ];
}
