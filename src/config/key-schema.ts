/** What a key may do: the same words in toolgate.yaml and where one is made at run time. */
import * as z from 'zod';
import { DEFAULTS } from './defaults.js';

export const SCOPES = ['call', 'approve', 'admin'] as const;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const NAME_EXPECTED = 'expected a name of letters, digits and . _ @ - (at most 64)';

const name = (description: string) =>
  z.string({ error: NAME_EXPECTED }).regex(NAME, { error: NAME_EXPECTED }).meta({ description });
const count = (description: string) =>
  z.int({ error: 'expected a whole number above 0' }).positive().exactOptional().meta({ description });

export const budget = z
  .strictObject({
    usd: z.number().positive().meta({ description: 'US dollars.' }),
    soft_usd: z
      .number()
      .positive()
      .exactOptional()
      .meta({ description: 'From here on answers carry a warning. Left out: from 75 % on.' }),
    per: z.enum(['day', 'week', 'month']).meta({
      description: 'When it begins anew, in UTC; weeks begin on Monday.',
    }),
    on_unknown: z
      .enum(['allow', 'deny'])
      .default('deny')
      .meta({ description: 'For models without a price, and while the store cannot be asked.' }),
  })
  .meta({ description: 'What may be spent. Left out: no limit.' });

export const keyName = name('Names the key in logs, sessions and usage. Unique.');
export const teamName = name(
  'The team that the key belongs to. Stands in the log lines of its requests, and in usage.',
);

/** Fields of a key besides its secret and its name. */
export const KEY_GRANTS = {
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .default([...DEFAULTS.key.scopes])
    .meta({ description: 'call models, answer approvals, administer the gateway.' }),
  models: z
    .array(z.string().min(1))
    .min(1)
    .default([...DEFAULTS.key.models])
    .meta({ description: 'Names and globs of the models that the key may call.' }),
  user: name('The person that the key was made for.').exactOptional(),
  team: teamName.exactOptional(),
  workspaces: z
    .array(z.string().min(1))
    .min(1)
    .exactOptional()
    .meta({ description: 'Folders that agents may work in for the key. Left out: all of them.' }),
  rpm: count('Requests a minute. Left out: no limit.'),
  tpm: count('Tokens a minute, without those that a cache gave. Left out: no limit.'),
  max_streams: count('Answers that may be open at once. Left out: no limit.'),
  max_agents: count('Agents that may answer at once. Left out: as `max_streams`.'),
  body_limit_mb: z
    .number()
    .positive()
    .max(1024)
    .exactOptional()
    .meta({ description: 'Largest request body, in MiB. Left out, or larger than that of `server`: that.' }),
  budget: budget.exactOptional(),
};
