/**
 * Slack: a message of a bot in a channel, with buttons. A press comes to the interactivity address of the app, signed
 * (`v0`) over its time and body. What a model wrote stands in a block that has no markup.
 */
import type { Choice, Message } from '../message.js';
import {
  type Adapter,
  at,
  type Callback,
  CallbackProblem,
  checkAge,
  choiceOf,
  type Heard,
  header,
  hmac,
  idAt,
  isSame,
  JSON_TYPE,
  parseJson,
  type ReadTools,
  type SendTools,
  type TargetOf,
  takenJson,
} from './adapter.js';

type Target = TargetOf<'slack'>;

const OFFICIAL = 'https://slack.com/api';
const BUTTONS: Readonly<Record<Choice, { label: string; style: string }>> = {
  allow: { label: 'Allow', style: 'primary' },
  deny: { label: 'Deny', style: 'danger' },
};

export const slack: Adapter<Target> = {
  // Slack folds what is longer behind "See more".
  inView: { longest: 600, lines: 10 },

  async send(message, target, tools) {
    const sent = await call(
      'chat.postMessage',
      { ...contentOf(message), channel: target.channel },
      target,
      tools,
    );
    return { channel: idAt(sent, 'channel'), ts: idAt(sent, 'ts') };
  },

  async edit(message, reference, target, tools) {
    const where = { channel: idAt(reference, 'channel'), ts: idAt(reference, 'ts') };
    await call('chat.update', { ...contentOf(message), ...where }, target, tools);
  },

  read(callback: Callback, { signing_secret }, { now }: ReadTools): Heard {
    const time = header(callback, 'x-slack-request-timestamp');
    const expected = `v0=${hmac('sha256', signing_secret, `v0:${time}:${callback.body}`).toString('hex')}`;
    if (!isSame(header(callback, 'x-slack-signature'), expected)) {
      throw new CallbackProblem('The signature is not that of the Slack app.');
    }
    checkAge(time, now);
    const payload = parseJson(new URLSearchParams(callback.body).get('payload') ?? '');
    const action = at(payload, 'actions', 0);
    // Links tell of a press as well.
    if (at(payload, 'type') !== 'block_actions' || idAt(action, 'action_id') === 'open') {
      return { kind: 'other', reply: { status: 200, body: {} } };
    }
    return {
      ...{ kind: 'answer', who: { id: idAt(payload, 'user', 'id') } },
      ...{ delivery: idAt(action, 'value'), choice: choiceOf(at(action, 'action_id')) },
      // The message itself is changed by the outbox; a status other than 200 shows a warning beside the button.
      reply: ({ accepted, text }) => ({ status: accepted ? 200 : 409, body: accepted ? {} : { text } }),
    };
  },
};

async function call(
  method: string,
  content: object,
  { token, base_url }: Target,
  tools: SendTools,
): Promise<unknown> {
  const answer = await tools.post(`${base_url ?? OFFICIAL}/${method}`, {
    headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${token}` },
    body: JSON.stringify(content),
  });
  return takenJson(answer, (body) => (at(body, 'ok') === true ? undefined : (at(body, 'error') ?? 'no ok')));
}

function contentOf({ title, context, text, note, choices, delivery, url }: Message): object {
  const plain = (given: string) => ({ type: 'plain_text', text: given, emoji: false });
  const buttons = choices.map((choice) => ({
    ...{ type: 'button', action_id: choice, value: delivery, style: BUTTONS[choice].style },
    text: plain(BUTTONS[choice].label),
  }));
  const link = url === undefined ? [] : [{ type: 'button', action_id: 'open', text: plain('Open'), url }];
  const code = { type: 'rich_text_preformatted', elements: [{ type: 'text', text }] };
  return {
    // For notifications: without markup, mentions or links.
    ...{ text: title, mrkdwn: false, unfurl_links: false, unfurl_media: false },
    blocks: [
      { type: 'header', text: plain(title.slice(0, 150)) },
      ...(text === '' ? [] : [{ type: 'rich_text', elements: [code] }]),
      { type: 'context', elements: [note, context].filter((part) => part !== '').map(plain) },
      ...(buttons.length + link.length === 0 ? [] : [{ type: 'actions', elements: [...buttons, ...link] }]),
    ],
  };
}
