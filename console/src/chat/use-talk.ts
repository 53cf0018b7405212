import { useCallback, useMemo, useRef } from 'react';
import type { ChatStarted } from '../../../src/server/console-api/wire/sessions.js';
import { forkSession, resumeTurn, startChat } from '../data/chat.js';
import type { ConversationView } from '../data/conversation.js';
import type { Part } from '../data/reducer/view.js';
import { useText } from '../text/language.js';
import { navigate } from '../ui/router.js';
import { toast } from '../ui/toast.js';
import { type ContentBlock, contentOf, sendAgain, textOf } from './attachments.js';
import type { ChatActions } from './chat-context.js';
import { keepFocus } from './kept-focus.js';
import { resumedOr } from './resumed-or.js';
import { strings } from './strings.js';
import type { ModelChoice } from './use-model-choice.js';

/** What can be said in a conversation. Rows hold on to `actions`, so it is the same object all the time. */
export function useTalk(
  id: string,
  conversation: ConversationView,
  choice: ModelChoice,
  onSent: () => void,
): { actions: ChatActions; send: Say } {
  const text = useText(strings);
  const now = useRef({ conversation, choice, text, onSent });
  now.current = { conversation, choice, text, onSent };

  const say: Say = useCallback(
    async (content, keep) => {
      const { choice: chosen, text: words } = now.current;
      if (chosen.model === undefined) throw new Error(words.reasons.model);
      const started = await startChat({
        model: chosen.model,
        session: id,
        content,
        ...(keep === undefined ? {} : { keep }),
        ...(chosen.cwd === undefined ? {} : { cwd: chosen.cwd }),
      });
      now.current.onSent();
      if (started.session === id) return;
      keepFocus();
      if (keep !== undefined) toast(words.branched, 'info');
      navigate(addressOf(started));
    },
    [id],
  );

  const actions = useMemo<ChatActions>(() => {
    const orSay = (work: Promise<unknown>): void => {
      work.catch((error: unknown) => toast(error instanceof Error ? error.message : String(error), 'danger'));
    };
    return {
      session: id,
      edit: async (turn, words, kept) => {
        const blocks = await Promise.all(kept.map(sendAgain));
        await say(contentOf(words, blocks), turn);
      },
      regenerate: (turn) => orSay(say('', turn)),
      resume: () => orSay(resume(id, () => say(now.current.text.goOnText), now.current.onSent)),
      retry: () => {
        const { conversation: shown, choice: chosen, onSent: sent } = now.current;
        const again = (): Promise<void> => sayAgain(shown.parts, say);
        const isOther = chosen.model !== shown.session?.model;
        orSay(isOther ? again() : resume(id, again, sent));
      },
      goOn: () => orSay(say(now.current.text.goOnText)),
    };
  }, [id, say]);

  return { actions, send: say };
}

type Say = (content: string | ContentBlock[], keep?: number) => Promise<void>;

/** `otherwise`: what to do where the gateway has no turn to resume. */
async function resume(id: string, otherwise: () => Promise<void>, onSent: () => void): Promise<void> {
  const started = await resumedOr(() => resumeTurn(id), otherwise);
  if (started === undefined) return;
  onSent();
  if (started.session !== id) navigate(addressOf(started));
}

/** The last thing that was said, in a branch of its own where it was written down. */
async function sayAgain(parts: readonly Part[], say: Say): Promise<void> {
  const last = parts.findLast((part) => part.kind === 'user');
  if (last === undefined) return;
  if (last.turn !== undefined) return say('', last.turn);
  const others = last.content.filter(({ type }) => type !== 'text');
  await say(contentOf(textOf(last.content), await Promise.all(others.map(sendAgain))));
}

export async function fork(id: string, done: string): Promise<void> {
  try {
    const copy = await forkSession(id);
    navigate(addressOf({ session: copy.id }));
    toast(done, 'ok');
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'danger');
  }
}

export function addressOf({ session }: Pick<ChatStarted, 'session'>): string {
  return `#/chat/${encodeURIComponent(session)}`;
}
