/**
 * Feishu (and Lark): a card of an app's bot in a group. A press comes to the callback address of the app as
 * `card.action.trigger`: encrypted with the encrypt key, signed over its time, nonce and body, and with
 * the verification token inside. All texts of a card are `plain_text`, which has no markup.
 */
import { createDecipheriv, createHash } from 'node:crypto';
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
  idAt,
  isSame,
  JSON_TYPE,
  parseJson,
  type ReadTools,
  type SendTools,
  type TargetOf,
  takenJson,
} from './adapter.js';

type Target = TargetOf<'feishu'>;

const BUTTONS: Readonly<Record<Choice, { label: string; type: string }>> = {
  allow: { label: 'Allow', type: 'primary' },
  deny: { label: 'Deny', type: 'danger' },
};

export const feishu: Adapter<Target> = {
  inView: { longest: 3000, lines: 40 },

  async send(message, target, tools) {
    const body = { receive_id: target.chat, msg_type: 'interactive', content: cardOf(message) };
    // The platform drops a second one with the same uuid within an hour.
    const content = { ...body, uuid: message.delivery };
    const sent = await call('POST', '/im/v1/messages?receive_id_type=chat_id', content, target, tools);
    return { message: idAt(sent, 'data', 'message_id') };
  },

  async edit(message, reference, target, tools) {
    const path = `/im/v1/messages/${encodeURIComponent(idAt(reference, 'message'))}`;
    await call('PATCH', path, { content: cardOf(message) }, target, tools);
  },

  read(callback: Callback, target, { now }: ReadTools): Heard {
    const { encrypt_key, verification_token } = target;
    const body = decrypt(idAt(parseJson(callback.body), 'encrypt'), encrypt_key);
    const token = idAt(body, 'header', 'token') || idAt(body, 'token');
    if (!isSame(token, verification_token)) {
      throw new CallbackProblem('The verification token is not that of the Feishu app.');
    }
    // Asked once, when the address is set, and before anything is signed.
    if (at(body, 'type') === 'url_verification') {
      return { kind: 'other', reply: { status: 200, body: { challenge: idAt(body, 'challenge') } } };
    }
    const time = header(callback, 'x-lark-request-timestamp');
    const signed = `${time}${header(callback, 'x-lark-request-nonce')}${encrypt_key}${callback.body}`;
    const expected = createHash('sha256').update(signed).digest('hex');
    if (!isSame(header(callback, 'x-lark-signature'), expected)) {
      throw new CallbackProblem('The signature is not that of the Feishu app.');
    }
    checkAge(time, now);
    if (at(body, 'header', 'event_type') !== 'card.action.trigger') {
      return { kind: 'other', reply: { status: 200, body: {} } };
    }
    const value = at(body, 'event', 'action', 'value');
    return {
      ...{ kind: 'answer', who: { id: idAt(body, 'event', 'operator', 'open_id') } },
      ...{ delivery: idAt(value, 'delivery'), choice: choiceOf(at(value, 'choice')) },
      reply: ({ accepted, text }) => ({
        status: 200,
        body: { toast: { type: accepted ? 'success' : 'error', content: text } },
      }),
    };
  },
};

async function call(
  method: 'POST' | 'PATCH',
  path: string,
  content: object,
  target: Target,
  { post }: SendTools,
): Promise<unknown> {
  const { base_url, app_id, app_secret } = target;
  const send = async (where: string, how: 'POST' | 'PATCH', body: object, token?: string) => {
    const answer = await post(`${base_url}/open-apis${where}`, {
      method: how,
      headers: { 'content-type': JSON_TYPE, ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    return takenJson(answer, (said) => (at(said, 'code') === 0 ? undefined : (at(said, 'msg') ?? 'no code')));
  };
  // Good for two hours; messages are rare, so it is not kept.
  const granted = await send('/auth/v3/tenant_access_token/internal', 'POST', { app_id, app_secret });
  return send(path, method, content, idAt(granted, 'tenant_access_token'));
}

function cardOf({ title, context, text, note, choices, delivery, url }: Message): string {
  const plain = (content: string) => ({ tag: 'plain_text', content });
  const buttons = choices.map((choice) => ({
    ...{ tag: 'button', text: plain(BUTTONS[choice].label), type: BUTTONS[choice].type },
    value: { delivery, choice },
  }));
  const link = url === undefined ? [] : [{ tag: 'button', text: plain('Open'), url }];
  const actions = [...buttons, ...link];
  return JSON.stringify({
    // The same card for all who see it, so that it can be changed for all.
    config: { update_multi: true, wide_screen_mode: true },
    header: { title: plain(title) },
    elements: [
      ...[text, note].filter((part) => part !== '').map((part) => ({ tag: 'div', text: plain(part) })),
      { tag: 'note', elements: [plain(context)] },
      ...(actions.length === 0 ? [] : [{ tag: 'action', actions }]),
    ],
  });
}

/** AES-256-CBC with the SHA-256 of the key; the first block is the IV. */
function decrypt(encrypted: string, key: string): unknown {
  const bytes = Buffer.from(encrypted, 'base64');
  let text: string;
  try {
    const secret = createHash('sha256').update(key).digest();
    const decipher = createDecipheriv('aes-256-cbc', secret, bytes.subarray(0, 16));
    text = Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString('utf8');
  } catch {
    throw new CallbackProblem('The body is not encrypted with the key of the Feishu app.');
  }
  return parseJson(text);
}
