/**
 * An answer that came from a provider: who it is, whether they may, and what they were shown. It decides as an answer of
 * the console does, once and by the digest of what was shown; the first one wins.
 */
import type { NotifyConfig, NotifyTargetConfig } from '../../config/notify-schema.js';
import { GatewayError } from '../../core/errors.js';
import type { AnswerOutcome, ApprovalCoordinator, PersonAnswer } from '../../permissions/approvals.js';
import { matchesAny } from '../../routing/model-glob.js';
import type { Approval } from '../../store/approvals.js';
import type { Store } from '../../store/store.js';
import {
  type Callback,
  CallbackProblem,
  type Heard,
  type Reply,
  type SendTools,
} from '../adapters/adapter.js';
import { openChannel } from '../adapters/adapters.js';
import { type Choice, type InView, messageOf } from '../message.js';
import { readNotice } from '../notice.js';

interface AnswerContext extends Pick<SendTools, 'sign'> {
  name: string;
  target: NotifyTargetConfig;
  config: NotifyConfig | undefined;
  store: Pick<Store, 'outbox'>;
  approvals: Pick<ApprovalCoordinator, 'decide'>;
  now: number;
}

type Answered = Extract<Heard, { kind: 'answer' }>;
interface Verdict {
  accepted: boolean;
  text: string;
}

/** A question that waits longer than this is answered in the console. */
const OLDEST_MESSAGE_MS = 24 * 3_600_000;

export async function answerCallback(context: AnswerContext, callback: Callback): Promise<Reply> {
  const { target, sign, now } = context;
  if (target.type === 'webhook') throw refused('A webhook takes no answers. Use the approvals API.');
  const channel = await openChannel(target);
  const heard = listen(() => channel.read(callback, { sign, now }));
  if (heard.kind === 'other') return heard.reply;
  return heard.reply(await decide(context, heard, channel.inView));
}

function listen(read: () => Heard): Heard {
  try {
    return read();
  } catch (error) {
    if (error instanceof CallbackProblem) throw refused(error.message);
    throw error;
  }
}

async function decide(context: AnswerContext, heard: Answered, inView: InView): Promise<Verdict> {
  const person = personOf(context, heard);
  if (person === undefined) {
    return no('You are not known to this gateway. Its operator can add you to `notify.people`.');
  }
  const { delivery, choice } = heard;
  const press = { target: context.name, delivery, choice, inView, person, via: viaOf(context.target) };
  return decidePress(context, press);
}

interface Press {
  target: string;
  delivery: string;
  choice: Choice;
  inView: InView;
  person: KnownPerson;
  via: PersonAnswer['via'];
}

/** A button of a message that is known to be of this gateway, pressed by somebody who is known. */
export async function decidePress(
  { store, approvals, now }: Pick<AnswerContext, 'store' | 'approvals' | 'now'>,
  { target, delivery: id, choice, inView, person, via }: Press,
): Promise<Verdict> {
  const delivery = await store.outbox.get(id);
  // Another target's message is as unknown as one that does not exist.
  if (delivery === undefined || delivery.target !== target || delivery.event !== 'approval.asked') {
    return no('There is no such question any more.');
  }
  if (now - delivery.createdAt > OLDEST_MESSAGE_MS) return no('The message is too old. Open the card.');
  if (person.keys !== undefined && !matchesAny(person.keys, delivery.principal)) {
    return no('You may not answer for this key.');
  }
  const notice = readNotice(delivery.payload);
  const { approval } = notice.data;
  const { choices } = messageOf(notice, inView, delivery.id);
  if (approval === undefined || !choices.includes(choice)) {
    return no('It cannot be decided here, because not all of it is shown. Open the card.');
  }
  const outcome = await approvals.decide(approval.id, {
    ...{ decision: choice, digest: approval.digest, by: person.name, via },
  });
  return verdictOf(outcome);
}

function viaOf({ type }: NotifyTargetConfig): Exclude<NotifyTargetConfig['type'], 'webhook'> | 'api' {
  return type === 'webhook' ? 'api' : type;
}

interface KnownPerson {
  name: string;
  keys: readonly string[] | undefined;
}

function personOf({ config, target }: AnswerContext, { who }: Answered): KnownPerson | undefined {
  const people = Object.entries(config?.people ?? {});
  const found = people.find(([name, ids]) => {
    if ('name' in who) return name === who.name;
    if (target.type === 'webhook' || target.type === 'ntfy') return false;
    return who.id !== '' && ids[target.type] === who.id;
  });
  return found && { name: found[0], keys: found[1].keys };
}

const WORDS: Readonly<Record<string, string>> = {
  allowed: 'Allowed',
  denied: 'Denied',
  covered: 'Allowed by a rule',
};

function verdictOf(outcome: AnswerOutcome): Verdict {
  switch (outcome.outcome) {
    case 'decided':
      return { accepted: true, text: `${WORDS[outcome.approval.state] ?? 'Decided'}.` };
    case 'already':
      return no(alreadyOf(outcome.approval));
    case 'expired':
      return no('Its time was over.');
    case 'mismatch':
      return no('What is asked has changed since this message. Open the card.');
    case 'invalid':
      return no(outcome.problem);
    case 'unknown':
      return no('There is no such question any more.');
  }
}

function alreadyOf({ state, decision }: Approval): string {
  const by = decision === undefined ? '' : ` by ${decision.by} (${decision.via})`;
  return `${WORDS[state] ?? state}${by} before. The first answer holds.`;
}

function no(text: string): Verdict {
  return { accepted: false, text };
}

function refused(message: string): GatewayError {
  return new GatewayError('forbidden', message);
}
