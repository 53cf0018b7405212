import { createOwnTools } from '../../tools/runtime/own-tools.js';
import { SILENT } from '../../tools/runtime/runtime-log.js';
import { type Check, fail, ok } from './check.js';

/** Shorter than the gateway's own: somebody waits. */
const LOAD_MS = 10_000;

/** Loads what `tools.paths` names, as the gateway would. */
export async function checkOwnTools(paths: readonly string[], baseDir: string): Promise<Check[]> {
  if (paths.length === 0) return [];
  const source = createOwnTools({ paths, baseDir, log: SILENT, loadMs: LOAD_MS });
  const names = (await source.tools()).map(({ name }) => name);
  const problems = (await source.problems?.()) ?? [];
  return [
    ...(names.length === 0 && problems.length > 0
      ? []
      : [ok('own tools', names.length === 0 ? 'none in the folders of `tools.paths`' : names.join(', '))]),
    ...problems.map(({ name, reason }) =>
      fail('own tools', `${name}: ${reason}`, 'correct it, or take it out of `tools.paths`'),
    ),
  ];
}
