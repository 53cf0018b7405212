/** Standard, then profile, then configuration, then what was learned: the later one wins. */
import { ConfigError } from '../../config/config-error.js';
import type { RemoteUpstreamConfig } from '../../config/schema.js';
import type { GatewayError } from '../../core/errors.js';
import { type Quirks, STANDARD_QUIRKS } from '../../dialects/shared/quirks.js';
import type { QuirkSource } from '../quirk-source.js';
import { FIXES } from './fixes.js';
import { isProfileName, PROFILES, type Profile, type ProfileName, profileOf } from './profiles.js';

export interface Lesson {
  upstream: string;
  model: string;
  /** The fix's name. */
  name: string;
  change: Partial<Quirks>;
  /** The upstream's own words. */
  evidence: string;
}

export interface QuirkSourceOptions {
  upstream: string;
  options: RemoteUpstreamConfig;
  /** What was learned before, from the store. */
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
}

const EVIDENCE_LIMIT = 500;

export function createQuirkSource({
  upstream,
  options,
  lessons = [],
  onLearned,
}: QuirkSourceOptions): QuirkSource {
  const profile: Profile | undefined = PROFILES[profileNameOf(upstream, options) ?? 'standard'];
  const configured = configuredQuirks(upstream, options.quirks ?? {});
  const learned = new Map<string, Partial<Quirks>>();
  for (const lesson of lessons) {
    const change = knownQuirks(lesson.change);
    learned.set(lesson.model, { ...learned.get(lesson.model), ...change });
  }
  const inForce = new Map<string, Quirks>();

  function of(model: string): Quirks {
    const known = inForce.get(model);
    if (known !== undefined) return known;
    const rows = (profile?.models ?? []).filter((row) => row.name.test(model)).map((row) => row.quirks);
    const quirks: Quirks = Object.assign(
      {},
      STANDARD_QUIRKS,
      profile?.quirks,
      ...rows,
      configured,
      learned.get(model),
    );
    inForce.set(model, quirks);
    return quirks;
  }

  return {
    of,
    learn(model: string, error: GatewayError, used: Quirks): boolean {
      if (error.status !== 400 && error.status !== 422) return false;
      if (error.code === 'context_overflow') return false;
      for (const fix of FIXES) {
        if (!fix.complaint.test(error.message)) continue;
        const change = fix.change(used);
        if (Object.keys(change).length === 0) continue;
        learned.set(model, { ...learned.get(model), ...change });
        inForce.delete(model);
        onLearned?.({
          upstream,
          model,
          name: fix.name,
          change,
          evidence: error.message.slice(0, EVIDENCE_LIMIT),
        });
        return true;
      }
      return false;
    },
    // A client of the same dialect wrote its request for this upstream; only what someone
    // configured or an error taught is a reason to change it.
    isPlain: (model) => Object.keys(configured).length === 0 && !learned.has(model),
  };
}

function profileNameOf(upstream: string, options: RemoteUpstreamConfig): ProfileName | undefined {
  const { profile } = options;
  if (profile === undefined) return profileOf(options.base_url);
  if (isProfileName(profile)) return profile;
  throw configError(`upstreams.${upstream}.profile`, `expected one of ${Object.keys(PROFILES).join(', ')}`);
}

function configuredQuirks(upstream: string, given: Readonly<Record<string, unknown>>): Partial<Quirks> {
  const standard: Readonly<Record<string, unknown>> = { ...STANDARD_QUIRKS };
  for (const [key, value] of Object.entries(given)) {
    const path = `upstreams.${upstream}.quirks.${key}`;
    if (!Object.hasOwn(standard, key))
      throw configError(path, `is not a quirk; known: ${Object.keys(standard).join(', ')}`);
    const expected = standard[key];
    const fits = Array.isArray(expected)
      ? Array.isArray(value)
      : typeof value === typeof expected || value === false;
    if (!fits) throw configError(path, `expected a value like ${JSON.stringify(expected)}`);
  }
  return given;
}

/** A store may remember a quirk that this version no longer has. */
function knownQuirks(change: Partial<Quirks>): Partial<Quirks> {
  return Object.fromEntries(Object.entries(change).filter(([key]) => Object.hasOwn(STANDARD_QUIRKS, key)));
}

function configError(path: string, message: string): ConfigError {
  return new ConfigError(undefined, [{ path, message }]);
}
