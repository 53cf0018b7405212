/**
 * Web Push: a notification of the browser, encrypted for it alone (aes128gcm), handed to the push service that the
 * browser named. The service worker shows it, and presses a button with a proof as ntfy does: it has no
 * sign-in of its own.
 */
import type { PushSubscription } from '../../store/push.js';
import type { Choice, InView, Message } from '../message.js';
import { againOf, SendProblem, type SendTools } from './adapter.js';

/** A notification shows two or three lines; what is longer is opened. */
export const PUSH_IN_VIEW: InView = { longest: 120, lines: 3, isOneField: true, longestName: 40 };

/** A push service takes 4 KiB; only a notification with nothing to allow is longer than what is in view. */
const BODY_CHARS = 500;

/** A notification of the browser: what the service worker reads. */
export interface PushPayload {
  tag: string;
  title: string;
  body: string;
  /** The route of the console that a press on it opens. */
  to: string;
  /** It only changes one that is there. */
  silent: boolean;
  actions: { choice: Choice; label: string; proof: string }[];
  delivery: string;
}

export interface VapidKeys {
  publicKey: string;
  privateKey: string;
}

/** What a press proves. */
export const pushProof = (delivery: string, choice: Choice): string => `push:${delivery}:${choice}`;

const LABELS: Readonly<Record<Choice, string>> = { allow: 'Allow', deny: 'Deny' };

export async function makeVapidKeys(): Promise<VapidKeys> {
  const { default: webPush } = await import('web-push');
  return webPush.generateVAPIDKeys();
}

export function pushPayload(message: Message, about: string, { sign }: Pick<SendTools, 'sign'>): PushPayload {
  const { title, text, note, context, choices, delivery } = message;
  const isAsking = choices.length > 0 || !note.startsWith('By ');
  return {
    ...{ tag: about, title, delivery, to: `#/inbox?approval=${encodeURIComponent(about)}` },
    body: [text, note, context]
      .filter((part) => part !== '')
      .join('\n')
      .slice(0, BODY_CHARS),
    silent: !isAsking,
    actions: choices.map((choice) => ({
      ...{ choice, label: LABELS[choice], proof: sign(pushProof(delivery, choice)) },
    })),
  };
}

interface PushOptions {
  keys: VapidKeys;
  /** Whom the push service may ask about the sender: https: or mailto:. */
  contact: string;
  /** How long it is worth delivering. */
  ttlS: number;
}

/** Rejects with SendProblem; `gone` on it where the browser has unsubscribed. */
export async function sendPush(
  { endpoint, p256dh, auth }: PushSubscription,
  payload: PushPayload,
  { keys, contact, ttlS }: PushOptions,
  { post }: Pick<SendTools, 'post'>,
): Promise<void> {
  const { default: webPush } = await import('web-push');
  const request = webPush.generateRequestDetails(
    { endpoint, keys: { p256dh, auth } },
    JSON.stringify(payload),
    {
      vapidDetails: { subject: contact, ...keys },
      ...{ TTL: ttlS, urgency: 'high', contentEncoding: 'aes128gcm' },
    },
  );
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const { 'content-length': _, ...own } = headers;
  const { status, headers: answered } = await post(endpoint, { headers: own, body: request.body ?? '' });
  if (status >= 200 && status < 300) return;
  if (status === 404 || status === 410) throw new PushGone('The browser has unsubscribed.', false);
  throw new SendProblem(`It answered ${status}.`, againOf(status, answered));
}

export class PushGone extends SendProblem {}
