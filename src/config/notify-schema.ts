/** `notify`: who outside is told of questions and turns, and who of them may answer. */
import * as z from 'zod';
import { keyName } from './key-schema.js';
import { count, credential, hosts, httpUrl, text } from './schema-fields.js';

const NOTIFY_EVENTS = [
  'approval.asked',
  'approval.decided',
  'approval.expired',
  'approval.cancelled',
  'turn.ended',
  'turn.failed',
] as const;

/** Standard Webhooks: 24 to 64 bytes, in base64 behind a prefix. */
function isWebhookSecret(value: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value)?.[1];
  if (encoded === undefined) return false;
  const { length } = Buffer.from(encoded, 'base64');
  return length >= 24 && length <= 64;
}

const baseUrl = httpUrl('Another address than the official one.').exactOptional();

const webhook = z.strictObject({
  type: z.literal('webhook').meta({ description: 'Signed requests to a program, after Standard Webhooks.' }),
  url: httpUrl('Where they go.'),
  secret: z
    .string()
    .refine(isWebhookSecret, { error: 'expected whsec_ and 24 to 64 bytes in base64' })
    .meta({ description: 'What they are signed with. Take it from the environment.' }),
  events: z
    .array(z.enum(NOTIFY_EVENTS))
    .min(1)
    .default(['approval.asked', 'approval.decided', 'approval.expired', 'approval.cancelled'])
    .meta({ description: 'What is sent.' }),
});

const ntfy = z.strictObject({
  type: z.literal('ntfy').meta({ description: 'A topic of an ntfy server.' }),
  base_url: httpUrl('The server.').default('https://ntfy.sh'),
  topic: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'expected letters, digits, _ and - (at most 64)' })
    .meta({ description: 'The topic. Who can read it can answer: choose one that nobody guesses.' }),
  token: credential('An access token of the server.').exactOptional(),
  person: keyName.meta({ description: 'Whose phone it is: answers are theirs.' }),
});

const slack = z.strictObject({
  type: z.literal('slack').meta({ description: 'A channel of Slack, by an app with a bot.' }),
  token: credential('The bot token (xoxb-…).'),
  signing_secret: credential('The signing secret of the app.'),
  channel: text('The id of the channel.'),
  base_url: baseUrl,
});

const telegram = z.strictObject({
  type: z.literal('telegram').meta({ description: 'A chat of Telegram, by a bot.' }),
  token: credential('The token of the bot.'),
  secret_token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,256}$/, { error: 'expected 16 to 256 letters, digits, _ and -' })
    .meta({ description: 'What was given to setWebhook as secret_token.' }),
  chat: z
    .union([z.string().min(1), z.int()], { error: 'expected the id of a chat' })
    .transform(String)
    .meta({ description: 'The id of the chat.' }),
  base_url: baseUrl,
});

const feishu = z.strictObject({
  type: z.literal('feishu').meta({ description: 'A group of Feishu or Lark, by an app with a bot.' }),
  app_id: text('The id of the app (cli_…).'),
  app_secret: credential('The secret of the app.'),
  encrypt_key: credential('The encrypt key of its event subscriptions.'),
  verification_token: credential('The verification token beside it.'),
  chat: text('The id of the group (oc_…).'),
  base_url: httpUrl('The platform; for Lark https://open.larksuite.com.').default('https://open.feishu.cn'),
});

/** `HH:MM` of a day. */
const timeOfDay = (description: string) =>
  z
    .string()
    .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'expected a time such as "22:00", in quotes' })
    .meta({ description });

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const quiet = z
  .strictObject({
    from: timeOfDay('When they begin.'),
    to: timeOfDay('When they end; it may be on the next day.'),
    zone: z
      .string()
      .refine(isTimeZone, { error: 'expected a time zone such as Europe/Berlin' })
      .default('UTC')
      .meta({ description: 'The time zone.' }),
  })
  .meta({ description: 'Hours in which these targets are not asked: then at their end, if it still waits.' });

const globs = (description: string) =>
  z.array(z.string().min(1)).min(1).exactOptional().meta({ description });

/** In `ask`: the browsers that people have turned notifications on in. */
export const BROWSERS = 'browsers';

const ask = z
  .strictObject({
    keys: globs('Names and globs of the keys whose questions they are. Left out: all.'),
    tools: globs('Names and globs of the tools. Left out: all.'),
    targets: z.array(z.string()).min(1).meta({
      description: 'Who is asked: names of targets, and `browsers` for those with notifications turned on.',
    }),
    after_min: count('Only where nobody has answered for so many minutes.').exactOptional(),
    quiet: quiet.exactOptional(),
  })
  .meta({ description: 'Which questions go to which targets.' });

const userId = (description: string) =>
  z
    .union([z.string().min(1), z.int()], { error: 'expected the id of a user' })
    .transform(String)
    .exactOptional()
    .meta({ description });

const person = z.strictObject({
  slack: userId('Their id in Slack (U…).'),
  telegram: userId('Their id in Telegram, a number.'),
  feishu: userId('Their open_id in Feishu (ou_…).'),
  keys: globs('Names and globs of the keys whose questions they may answer. Left out: all.'),
});

export const notify = z.strictObject({
  public_url: z
    .string()
    .refine((value) => /^https?:\/\/[^/?#@]+\/?$/i.test(value) && URL.canParse(value), {
      error: 'expected an address such as https://toolgate.example.com, without a path',
    })
    .transform((value) => new URL(value).origin)
    .exactOptional()
    .meta({ description: 'Where people and providers reach this gateway: for links and answers.' }),
  people: z
    .record(keyName, person)
    .default({})
    .meta({ description: 'Who may answer, by the name that the audit log has, and who they are elsewhere.' }),
  targets: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
          error: 'expected a name of letters, digits and . _ - (at most 64)',
        })
        .refine((name) => name !== BROWSERS, {
          error: 'expected another name: in `ask`, `browsers` are those that have notifications turned on',
        }),
      z.discriminatedUnion('type', [webhook, ntfy, slack, telegram, feishu]),
    )
    .default({})
    .meta({ description: 'Where messages go, by a name of your choice.' }),
  ask: z
    .array(ask)
    .exactOptional()
    .meta({ description: 'Who is asked when. Left out: all targets, about everything, at once.' }),
  allow_private: hosts(
    'Hosts (host or host:port) of targets that may be in a private network, and speak http without TLS.',
  ).default([]),
});

export type NotifyConfig = z.output<typeof notify>;
export type NotifyTargetConfig = NotifyConfig['targets'][string];
