import type { Config } from '../../config/schema.js';
import { createBuiltIns } from '../../tools/built-ins.js';
import { createOwnTools } from '../../tools/runtime/own-tools.js';
import { createRegistry } from '../../tools/runtime/registry.js';
import { SILENT } from '../../tools/runtime/runtime.js';
import { type Check, fail, ok, warn } from './check.js';

/** Shorter than the gateway's own: a person waits. */
const LOAD_MS = 10_000;

/** Loads what `tools.paths` names, as the gateway would, and asks which of it agents get. */
export async function checkOwnTools(config: Config['tools'], baseDir: string): Promise<Check[]> {
  if (config.paths.length === 0) return [];
  const own = createOwnTools({ paths: config.paths, baseDir, log: SILENT, loadMs: LOAD_MS });
  const { list } = createRegistry({ sources: [createBuiltIns(config), own], log: SILENT });
  const listed = (await list()).filter(({ source }) => source === 'own');
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
