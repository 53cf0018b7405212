/** Who answers, as toolgate.yaml says it. */
import * as z from 'zod';
import { DIALECT_NAMES } from '../core/conversation.js';
import { DEFAULTS } from './defaults.js';
import { credential, flag, headers, httpUrl, seconds, text } from './schema-fields.js';

export const UPSTREAM_DIALECTS = DIALECT_NAMES;

const target = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
        error: 'expected a name of letters, digits and . _ - (at most 64)',
      })
      .exactOptional()
      .meta({ description: 'Names it in traces and metrics. Left out: its position, from 1.' }),
    base_url: httpUrl('Where it is. Left out: as the upstream.').exactOptional(),
    api_key: credential('Its credential. Left out: as the upstream.').exactOptional(),
    headers: headers('Further headers on every request to it, over those of the upstream.').exactOptional(),
    weight: z
      .number()
      .positive()
      .max(1000)
      .default(DEFAULTS.upstream.weight)
      .meta({ description: 'Its share of new conversations, beside those of the others.' }),
  })
  .meta({ description: 'A key or a deployment of the upstream.' });

const upstreamOf = <const D extends (typeof UPSTREAM_DIALECTS)[number]>(dialect: D) =>
  z.strictObject({
    dialect: z.literal(dialect).meta({ description: 'The wire format that the upstream speaks.' }),
    base_url: httpUrl('What the official SDK of that dialect takes as its base URL.'),
    api_key: credential('Its credential. Take it from the environment.').exactOptional(),
    headers: headers('Further headers on every request to it.').exactOptional(),
    targets: z
      .array(target)
      .min(1)
      .max(100)
      .exactOptional()
      .meta({ description: 'Several keys or deployments that answer as one upstream.' }),
    profile: text('Name of a quirks profile. Left out: chosen by the address.').exactOptional(),
    quirks: z
      .record(z.string(), z.unknown())
      .exactOptional()
      .meta({ description: 'Quirks that override the profile.' }),
    pass_through: flag(
      'Open its other routes: files, batches and skills, and everything at /upstream/NAME for keys with the scope admin.',
    ).exactOptional(),
    region: text(
      'Where its models run (`us`, `eu`): requests with another `inference_geo` go to other upstreams. Left out: an Anthropic upstream is given the field, any other is not asked.',
    ).exactOptional(),
    timeout_s: seconds('Longest silence of the upstream before the request fails.').default(
      DEFAULTS.upstream.timeout_s,
    ),
  });

export const upstream = z.discriminatedUnion('dialect', [
  upstreamOf('anthropic-messages'),
  upstreamOf('openai-chat'),
  upstreamOf('openai-responses'),
  z.strictObject({
    dialect: z.literal('demo').meta({ description: 'The embedded demo model: rule-based, no network.' }),
  }),
]);
