/** `profile` and `quirks` of an upstream: the schema lets any through, for only here is known what there is. */
import { type PathProblem, placedError } from '../../config/config-error.js';
import { describeUnknownKey } from '../../config/describe-issue.js';
import type { LoadedConfig } from '../../config/load.js';
import { nearest } from '../../config/nearest.js';
import type { RemoteUpstreamConfig } from '../../config/schema.js';
import { STANDARD_QUIRKS } from '../../dialects/shared/quirks.js';
import { isProfileName, PROFILES } from './profiles.js';

/** Throws ConfigError with every problem at its place in the file. */
export function checkQuirks({ config, file, locate }: LoadedConfig): void {
  const problems = Object.entries(config.upstreams).flatMap(([name, upstream]) =>
    upstream.dialect === 'demo' ? [] : quirkProblems(name, upstream),
  );
  if (problems.length > 0) throw placedError(file, problems, locate);
}

export function quirkProblems(
  upstream: string,
  { profile, quirks = {} }: Pick<RemoteUpstreamConfig, 'profile' | 'quirks'>,
): PathProblem[] {
  const problems: PathProblem[] = [];
  if (profile !== undefined && !isProfileName(profile)) {
    problems.push({ path: ['upstreams', upstream, 'profile'], message: unknownProfile(profile) });
  }
  const standard: Readonly<Record<string, unknown>> = { ...STANDARD_QUIRKS };
  for (const [key, value] of Object.entries(quirks)) {
    const message = Object.hasOwn(standard, key)
      ? wrongValue(value, standard[key])
      : describeUnknownKey(key, Object.keys(standard), []);
    if (message !== undefined) problems.push({ path: ['upstreams', upstream, 'quirks', key], message });
  }
  return problems;
}

function unknownProfile(profile: string): string {
  const known = Object.keys(PROFILES);
  const close = nearest(profile, known);
  const hint = close === undefined ? '' : `. Did you mean \`${close}\`?`;
  return `expected one of ${known.join(', ')}${hint}`;
}

function wrongValue(value: unknown, standard: unknown): string | undefined {
  const fits = Array.isArray(standard)
    ? Array.isArray(value)
    : typeof value === typeof standard || value === false;
  return fits ? undefined : `expected a value like ${JSON.stringify(standard)}`;
}
