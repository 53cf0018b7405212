/** The providers that carry messages to people. Each is loaded with its first use. */
import type { NotifyTargetConfig } from '../../config/notify-schema.js';
import type { InView, Message } from '../message.js';
import type { Adapter, Callback, Heard, ReadTools, SendTools, TargetOf } from './adapter.js';

/** Those that carry messages for people; a webhook is for a program. */
type ChatTarget = Exclude<NotifyTargetConfig, { type: 'webhook' }>;

const ADAPTERS: { [Type in ChatTarget['type']]: () => Promise<Adapter<TargetOf<Type>>> } = {
  ntfy: async () => (await import('./ntfy.js')).ntfy,
  slack: async () => (await import('./slack.js')).slack,
  telegram: async () => (await import('./telegram.js')).telegram,
  feishu: async () => (await import('./feishu.js')).feishu,
};

/** An adapter with its target. */
interface Channel {
  inView: InView;
  send(message: Message, tools: SendTools): Promise<unknown>;
  /** Undefined where a message stays as it was sent. */
  edit: ((message: Message, reference: unknown, tools: SendTools) => Promise<void>) | undefined;
  read(callback: Callback, tools: ReadTools): Heard;
}

export async function openChannel(target: ChatTarget): Promise<Channel> {
  switch (target.type) {
    case 'ntfy':
      return channelOf(await ADAPTERS.ntfy(), target);
    case 'slack':
      return channelOf(await ADAPTERS.slack(), target);
    case 'telegram':
      return channelOf(await ADAPTERS.telegram(), target);
    case 'feishu':
      return channelOf(await ADAPTERS.feishu(), target);
  }
}

function channelOf<Target>(adapter: Adapter<Target>, target: Target): Channel {
  const { edit } = adapter;
  return {
    inView: adapter.inView,
    send: (message, tools) => adapter.send(message, target, tools),
    edit: edit && ((message, reference, tools) => edit(message, reference, target, tools)),
    read: (callback, tools) => adapter.read(callback, target, tools),
  };
}
