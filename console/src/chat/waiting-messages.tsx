/** What was said while a turn runs and waits to be delivered. */
import { useCallback, useEffect, useState } from 'react';
import type { QueuedMessageWire } from '../../../src/server/console-api/wire/sessions.js';
import { queuedMessages, withdrawMessage } from '../data/chat.js';
import { useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { IconButton } from '../ui/icon-button.js';
import { CloseIcon } from '../ui/icons.js';
import { toast } from '../ui/toast.js';
import { VisibleText } from '../ui/visible-text.js';
import { strings } from './strings.js';

interface Waiting {
  messages: readonly QueuedMessageWire[];
  refresh: () => void;
}

/** Fetched while a turn runs, and whenever the session changes then. */
export function useWaitingMessages(session: string, running: boolean): Waiting {
  const changed = useConsole((state) => state.sessions.get(session));
  const [messages, setMessages] = useState<readonly QueuedMessageWire[]>([]);
  const [asked, setAsked] = useState(0);
  const isNeeded = running || messages.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of these is a reason to look again.
  useEffect(() => {
    if (!isNeeded) return;
    const abort = new AbortController();
    queuedMessages(session, abort.signal).then(
      (found) => {
        if (!abort.signal.aborted) setMessages(found);
      },
      // The next change asks again.
      () => {},
    );
    return () => abort.abort();
  }, [session, isNeeded, changed, asked]);
  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  return { messages, refresh };
}

/** `canSteer`: the agent takes messages into the turn that runs. */
export function WaitingMessages({ messages, refresh, canSteer }: Waiting & { canSteer: boolean }) {
  const text = useText(strings);
  if (messages.length === 0) return null;
  const withdraw = (message: QueuedMessageWire): void => {
    withdrawMessage(message).then(refresh, (error: unknown) => {
      toast(error instanceof Error ? error.message : String(error), 'danger');
      refresh();
    });
  };
  return (
    <ul
      aria-label={text.waitingMessages}
      className="mx-auto flex max-h-40 w-full max-w-3xl flex-col gap-1 overflow-y-auto px-3 pb-1 sm:px-4"
    >
      {messages.map((message) => (
        <li
          key={message.id}
          data-waiting={message.id}
          className="flex items-center gap-2 rounded-md border border-line bg-surface py-1 pr-1 pl-2 text-sm"
        >
          <Badge tone={isSteering(message, canSteer) ? 'info' : 'plain'}>
            {isSteering(message, canSteer) ? text.steered : text.queued}
          </Badge>
          <span className="min-w-0 flex-1 truncate">
            <VisibleText text={textOfMessage(message) || text.waitingFiles} />
          </span>
          <IconButton label={text.withdraw} size="small" onClick={() => withdraw(message)}>
            <CloseIcon size={14} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

/** On an agent that takes none into its turn, what was meant to steer waits for the end as well. */
function isSteering({ mode }: QueuedMessageWire, canSteer: boolean): boolean {
  return canSteer && mode === 'steer';
}

/** Empty where there is none. */
export function textOfMessage({ content }: Pick<QueuedMessageWire, 'content'>): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((block) =>
      typeof block === 'object' && block !== null && 'text' in block && typeof block.text === 'string'
        ? [block.text]
        : [],
    )
    .join('\n');
}
