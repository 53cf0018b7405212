/** Standard, then profile, then configuration, then what was learned: the later one wins. */
import { placedError } from '../../config/config-error.js';
import type { RemoteUpstreamConfig } from '../../config/schema.js';
import type { GatewayError } from '../../core/errors.js';
import { type Quirks, STANDARD_QUIRKS } from '../../dialects/shared/quirks.js';
import { quirkProblems } from './check-quirks.js';
import { FIXES } from './fixes.js';
import { isProfileName, PROFILES, type Profile, profileOf } from './profiles.js';
import type { QuirkSource } from './quirk-source.js';

export interface Lesson {
  upstream: string;
  model: string;
  /** The fix's name. */
  name: string;
  change: Partial<Quirks>;
  /** The upstream's own words. */
  evidence: string;
}

interface QuirkSourceOptions {
  upstream: string;
  options: RemoteUpstreamConfig;
  /** What was learned before, from the store. */
  lessons?: readonly Lesson[];
  onLearned?: (lesson: Lesson) => void;
}

const EVIDENCE_LIMIT = 500;
const MODEL_LIMIT = 1_000;

/** Throws ConfigError for a profile or quirk that there is not. */
export function createQuirkSource({
  upstream,
  options,
  lessons = [],
  onLearned,
}: QuirkSourceOptions): QuirkSource {
  const problems = quirkProblems(upstream, options);
  if (problems.length > 0) throw placedError(undefined, problems);
  const { profile: named, quirks: configured = {} } = options;
  const profileName = named !== undefined && isProfileName(named) ? named : profileOf(options.base_url);
  const profile: Profile | undefined = PROFILES[profileName ?? 'standard'];
  const learned = new Map<string, Partial<Quirks>>();
  for (const lesson of lessons) {
    const change = knownQuirks(lesson.change);
    learned.set(lesson.model, { ...learned.get(lesson.model), ...change });
  }
  const inForce = new Map<string, Quirks>();
  /** One object for all models alike: what was encoded for one of them is found for the others. */
  const alike = new Map<string, Quirks>();

  function of(model: string): Quirks {
    const known = inForce.get(model);
    if (known !== undefined) return known;
    const rows = (profile?.models ?? []).filter((row) => row.name.test(model)).map((row) => row.quirks);
    const made: Quirks = Object.assign(
      {},
      STANDARD_QUIRKS,
      profile?.quirks,
      ...rows,
      configured,
      learned.get(model),
    );
    const content = JSON.stringify(made);
    const quirks = alike.get(content) ?? made;
    // Behind a glob the names come from clients.
    if (inForce.size >= MODEL_LIMIT) inForce.clear();
    if (alike.size >= MODEL_LIMIT) alike.clear();
    inForce.set(model, quirks);
    alike.set(content, quirks);
    return quirks;
  }

  return {
    of,
    learn(model: string, error: GatewayError, used: Quirks): boolean {
      if (error.status !== 400 && error.status !== 422 && !NO_ENDPOINT.test(error.message)) return false;
      const isOverflow = error.code === 'context_overflow';
      for (const fix of FIXES) {
        if (isOverflow && fix.ofOverflow !== true) continue;
        if (!fix.complaint.test(error.message)) continue;
        const change = fix.change(used, error.message);
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

/** How a router of several providers says with a 404 that none of them takes something. */
const NO_ENDPOINT = /^no endpoints found that support/i;

/** A store may remember a quirk that this version no longer has. */
function knownQuirks(change: Partial<Quirks>): Partial<Quirks> {
  return Object.fromEntries(Object.entries(change).filter(([key]) => Object.hasOwn(STANDARD_QUIRKS, key)));
}
