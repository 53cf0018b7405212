/** Who answers: said by `start` and `doctor` alike. */
import { statSync } from 'node:fs';
import type { LoadedConfig } from '../../config/load.js';
import { resolveModelCwd } from '../../config/paths.js';
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
