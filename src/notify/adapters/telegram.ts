/**
 * Telegram: a message of a bot in a chat, with an inline keyboard. A press comes to the webhook of the bot, which knows
 * the secret token that `setWebhook` was given. The text has no parse mode: what a model wrote is one
 * `pre` entity, counted in UTF-16 as Telegram does.
 */
import type { Choice, Message } from '../message.js';
import {
  type Adapter,
  at,
  type Callback,
  CallbackProblem,
  choiceOf,
  type Heard,
  header,
  idAt,
  isSame,
  JSON_TYPE,
  parseJson,
  type SendTools,
  type TargetOf,
  takenJson,
} from './adapter.js';

type Target = TargetOf<'telegram'>;

const OFFICIAL = 'https://api.telegram.org';
const LABELS: Readonly<Record<Choice, string>> = { allow: 'Allow', deny: 'Deny' };
/** Telegram shows it for a moment, and takes no more. */
const LONGEST_REPLY = 200;

export const telegram: Adapter<Target> = {
  // A message has at most 4,096 characters, with what stands around the text.
  inView: { longest: 3000, lines: 40 },

  async send(message, target, tools) {
    const sent = await call('sendMessage', { chat_id: target.chat, ...contentOf(message) }, target, tools);
    return { chat: idAt(sent, 'result', 'chat', 'id'), message: idAt(sent, 'result', 'message_id') };
  },

  async edit(message, reference, target, tools) {
    const where = { chat_id: idAt(reference, 'chat'), message_id: Number(idAt(reference, 'message')) };
    await call('editMessageText', { ...where, ...contentOf(message) }, target, tools);
  },

  read(callback: Callback, { secret_token }): Heard {
    if (!isSame(header(callback, 'x-telegram-bot-api-secret-token'), secret_token)) {
      throw new CallbackProblem('The secret token is not that of the webhook.');
    }
    const query = at(parseJson(callback.body), 'callback_query');
    // Messages to the bot, and all else that a bot hears.
    if (query === undefined) return { kind: 'other', reply: { status: 200, body: {} } };
    const [choice, delivery = ''] = idAt(query, 'data').split(':');
    return {
      ...{ kind: 'answer', who: { id: idAt(query, 'from', 'id') }, delivery, choice: choiceOf(choice) },
      // The answer to a webhook may be a call of the bot API.
      reply: ({ accepted, text }) => ({
        status: 200,
        body: {
          ...{ method: 'answerCallbackQuery', callback_query_id: idAt(query, 'id') },
          ...{ text: text.slice(0, LONGEST_REPLY), show_alert: !accepted },
        },
      }),
    };
  },
};

async function call(
  method: string,
  content: object,
  { token, base_url }: Target,
  tools: SendTools,
): Promise<unknown> {
  const answer = await tools.post(`${base_url ?? OFFICIAL}/bot${token}/${method}`, {
    headers: { 'content-type': JSON_TYPE },
    body: JSON.stringify(content),
  });
  return takenJson(answer, (body) =>
    at(body, 'ok') === true ? undefined : (at(body, 'description') ?? 'no ok'),
  );
}

function contentOf({ title, context, text, note, choices, delivery, url }: Message): object {
  const parts = [title, text, note, context].filter((part) => part !== '');
  const pre = { type: 'pre', offset: title.length + 2, length: text.length };
  const buttons = choices.map((choice) => ({ text: LABELS[choice], callback_data: `${choice}:${delivery}` }));
  const link = url === undefined ? [] : [{ text: 'Open', url }];
  return {
    text: parts.join('\n\n'),
    entities: [{ type: 'bold', offset: 0, length: title.length }, ...(text === '' ? [] : [pre])],
    link_preview_options: { is_disabled: true },
    reply_markup: { inline_keyboard: [[...buttons, ...link]].filter((row) => row.length > 0) },
  };
}
