/**
 * ntfy: a message on a topic, with buttons that the phone presses by itself. Nobody signs the request that it then makes,
 * so each button carries a proof that is good for this message and this choice alone. The topic belongs
 * to one person, whose name the configuration has. A message stays as it was sent.
 */
import type { Choice, Message } from '../message.js';
import {
  type Adapter,
  at,
  type Callback,
  CallbackProblem,
  choiceOf,
  type Heard,
  idAt,
  isSame,
  JSON_TYPE,
  parseJson,
  type ReadTools,
  type SendTools,
  type TargetOf,
  takenJson,
} from './adapter.js';

type Target = TargetOf<'ntfy'>;

const LABELS: Readonly<Record<Choice, string>> = { allow: 'Allow', deny: 'Deny' };

export const ntfy: Adapter<Target> = {
  // What Android shows of a notification that is opened.
  inView: { longest: 400, lines: 8, longestName: 40 },

  async send(message, target, tools) {
    const { token, base_url, topic } = target;
    const { title, url } = message;
    const answer = await tools.post(base_url, {
      headers: { 'content-type': JSON_TYPE, ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({
        ...{ topic, title, message: textOf(message), priority: 4, tags: ['key'] },
        ...(url && { click: url }),
        actions: [...buttonsOf(message, tools), ...(url ? [{ action: 'view', label: 'Open', url }] : [])],
      }),
    });
    return {
      id: idAt(
        takenJson(answer, (body) => at(body, 'error')),
        'id',
      ),
    };
  },

  read(callback: Callback, { person }, { sign }: ReadTools): Heard {
    const body = parseJson(callback.body);
    const delivery = idAt(body, 'delivery');
    const choice = choiceOf(at(body, 'choice'));
    if (!isSame(idAt(body, 'proof'), sign(proofOf(delivery, choice)))) {
      throw new CallbackProblem('The proof is not that of a message of this gateway.');
    }
    return {
      ...{ kind: 'answer', who: { name: person }, delivery, choice },
      reply: ({ accepted, text }) => ({ status: accepted ? 200 : 409, body: { text } }),
    };
  },
};

function textOf({ context, text, note }: Message): string {
  return [text, note, context].filter((part) => part !== '').join('\n\n');
}

function buttonsOf({ choices, delivery }: Message, { answerUrl, sign }: SendTools): object[] {
  if (answerUrl === undefined) return [];
  return choices.map((choice) => ({
    ...{ action: 'http', label: LABELS[choice], url: answerUrl, method: 'POST', clear: true },
    headers: { 'content-type': JSON_TYPE },
    body: JSON.stringify({ delivery, choice, proof: sign(proofOf(delivery, choice)) }),
  }));
}

function proofOf(delivery: string, choice: Choice): string {
  return `ntfy:${delivery}:${choice}`;
}
