/** The upstreams that the cases need, and how a gateway is configured to reach them. */
import type { DialectName } from '../../src/core/conversation.js';
import type { Case, Variation } from './case-schema.js';
import { DIALECT_OF, type Pair, WIRES, type WireName } from './dialects.js';

/** One way to reach the scripted upstream: a wire, and what is known of whoever speaks it. */
export interface Setup {
  wire: WireName;
  profile?: string;
  /** What the model's name begins with. */
  family?: string;
  /** Where the client's wire is the upstream's too: bytes pass, or are translated all the same. */
  lane?: 'bytes' | 'translated';
}

export function setupOf({ profile, model, bytes }: Variation, { client, upstream }: Pair): Setup {
  return {
    wire: upstream,
    ...(profile === undefined ? {} : { profile }),
    ...(model === undefined ? {} : { family: model }),
    ...(client === upstream ? { lane: bytes === undefined ? 'translated' : 'bytes' } : {}),
  };
}

/** `conformance-chat`, `gpt-5.4-chat-openai`, `conformance-messages-translated`. */
export function modelOf({ wire, profile, family = 'conformance', lane }: Setup): string {
  return [family, wire, profile, lane].filter((part) => part !== undefined).join('-');
}

/** On the lane of bytes the model's name is all that changes. */
export const renamedModel = ({ wire }: Setup): string => `renamed-${wire}`;

export const UPSTREAM_KEY = 'upstream-secret';

interface UpstreamConfig {
  dialect: DialectName;
  base_url: string;
  api_key: string;
  profile: string;
  quirks?: Readonly<Record<string, unknown>>;
}

/** As in `toolgate.yaml`. Names end in `*`, so that a suffix can tell requests apart. */
export function configFor(cases: readonly Case[], upstreamUrl: string): object {
  const upstreams: Record<string, UpstreamConfig> = {};
  const models: Record<string, { upstream: string; model?: string }> = {};
  for (const setup of setupsOf(cases)) {
    const name = modelOf(setup);
    upstreams[name] = {
      dialect: DIALECT_OF[setup.wire],
      base_url: setup.wire === 'messages' ? upstreamUrl : `${upstreamUrl}/v1`,
      api_key: UPSTREAM_KEY,
      profile: setup.profile ?? 'standard',
      // A quirk that changes nothing: what someone configured ends the lane of bytes.
      ...(setup.lane === 'translated' ? { quirks: { maxStops: 4 } } : {}),
    };
    if (setup.lane === 'bytes') models[name] = { upstream: name, model: renamedModel(setup) };
    else models[`${name}*`] = { upstream: name };
  }
  return { upstreams, models };
}

function setupsOf(cases: readonly Case[]): Setup[] {
  const found = new Map<string, Setup>();
  const note = (setup: Setup): unknown => found.set(modelOf(setup), setup);
  for (const { variations } of cases) {
    for (const variation of variations) {
      for (const upstream of WIRES) {
        for (const client of WIRES) note(setupOf(variation, { client, upstream }));
      }
    }
  }
  return [...found.values()];
}
