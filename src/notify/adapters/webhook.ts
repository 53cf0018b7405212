/**
 * Signed requests to a program, after Standard Webhooks 1.0: `webhook-id` is the same for every attempt, the signature
 * covers it, the time of the attempt and the body. A program answers with the approvals API.
 */
import type { Notice } from '../notice.js';
import { againOf, hmac, JSON_TYPE, SendProblem, type SendTools, type TargetOf } from './adapter.js';

export async function sendWebhook(
  notice: Notice,
  id: string,
  target: TargetOf<'webhook'>,
  { post }: Pick<SendTools, 'post'>,
  now: number,
): Promise<void> {
  const body = JSON.stringify(notice);
  const timestamp = String(Math.floor(now / 1000));
  const { status, headers } = await post(target.url, {
    headers: {
      'content-type': JSON_TYPE,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signatureOf(target.secret, `${id}.${timestamp}.${body}`)}`,
    },
    body,
  });
  if (status >= 200 && status < 300) return;
  throw new SendProblem(`It answered ${status}.`, againOf(status, headers));
}

function signatureOf(secret: string, text: string): string {
  return hmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), text).toString('base64');
}
