/** A conversation that exists. */
import { useState } from 'react';
import type { MessageMode } from '../../../src/server/console-api/wire/sessions.js';
import { KnownApprovalsContext } from '../cards/known-approvals.js';
import { sayMeanwhile, stopTurn } from '../data/chat.js';
import { type ConversationView, useConversation } from '../data/conversation.js';
import { useIdentity } from '../data/identity.js';
import { isOwnSession } from '../data/own-sessions.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { EmptyState } from '../ui/empty-state.js';
import { ErrorNote } from '../ui/error-note.js';
import { PlusIcon } from '../ui/icons.js';
import { navigate } from '../ui/router.js';
import { Skeleton } from '../ui/skeleton.js';
import type { ContentBlock } from './attachments.js';
import { CanSendContext, ChatActionsContext } from './chat-context.js';
import { ChatHeader } from './chat-header.js';
import { Choices } from './choices.js';
import { Composer } from './composer.js';
import { useKeptFocus } from './kept-focus.js';
import { strings } from './strings.js';
import { TodoLine } from './todo-line.js';
import { Transcript } from './transcript.js';
import { useModelChoice } from './use-model-choice.js';
import { useObstacle } from './use-obstacle.js';
import { useSessionMode } from './use-session-mode.js';
import { fork, useTalk } from './use-talk.js';
import { textOfMessage, useWaitingMessages, WaitingMessages } from './waiting-messages.js';

export function OneChat({ session: id, onRetry }: { session: string; onRetry: () => void }) {
  const text = useText(strings);
  const conversation = useConversation(id);
  switch (conversation.status) {
    case 'loading':
      return (
        <div className="mx-auto w-full max-w-3xl px-4 py-6">
          <h1 className="sr-only">{text.loading}</h1>
          <Skeleton lines={6} />
        </div>
      );
    case 'missing':
      return (
        <div className="mx-auto w-full max-w-3xl px-4 py-10">
          <h1 className="sr-only">{text.missing}</h1>
          <EmptyState
            title={text.missing}
            text={text.missingText}
            action={
              <Button variant="primary" icon={<PlusIcon />} onClick={() => navigate('#/')}>
                {text.startNew}
              </Button>
            }
          />
        </div>
      );
    case 'failed':
      return (
        <div className="mx-auto w-full max-w-3xl px-4 py-10">
          <h1 className="sr-only">{text.loadFailed}</h1>
          <ErrorNote
            title={text.loadFailed}
            message={conversation.problem ?? ''}
            action={
              <Button size="small" onClick={onRetry}>
                {text.tryAgain}
              </Button>
            }
          />
        </div>
      );
    case 'ready':
      return <Talk id={id} conversation={conversation} />;
  }
}

function Talk({ id, conversation }: { id: string; conversation: ConversationView }) {
  const text = useText(strings);
  const { session, running, parts } = conversation;
  const last = parts.at(-1);
  const failed = last?.kind === 'note' && last.note.type === 'failed';
  const choice = useModelChoice(session);
  const mode = useSessionMode(session, running);
  const focused = useKeptFocus();
  const general = useObstacle();
  const person = useIdentity();
  const [sent, setSent] = useState(0);
  const foreign =
    session !== undefined && person.name !== '' && session.key !== person.name
      ? text.reasons.otherKey(session.key)
      : undefined;
  const obstacle = general ?? foreign ?? (choice.model === undefined ? text.reasons.model : undefined);
  const waiting = useWaitingMessages(id, running);
  // Only this agent looks for what was said before it asks its model again.
  const canSteer = session?.engine === 'native';
  const busy = running
    ? text.meanwhile[isOwnSession(id) ? 'own' : 'elsewhere'][canSteer ? 'steer' : 'queue']
    : undefined;
  const meanwhile = async (content: string | ContentBlock[], mode: MessageMode): Promise<void> => {
    await sayMeanwhile(id, content, mode);
    waiting.refresh();
  };
  const { actions, send } = useTalk(id, conversation, choice, () => setSent((count) => count + 1));
  return (
    <ChatActionsContext value={actions}>
      <CanSendContext value={obstacle === undefined && !running}>
        <div className="flex h-full flex-col">
          {session === undefined ? (
            <h1 className="sr-only">{text.untitled}</h1>
          ) : (
            <ChatHeader
              session={session}
              running={running}
              failed={failed}
              onFork={() => void fork(id, text.forked)}
            />
          )}
          <KnownApprovalsContext value={conversation.approvals}>
            <Transcript conversation={conversation} sent={sent} />
          </KnownApprovalsContext>
          {running && <TodoLine parts={parts} />}
          <WaitingMessages {...waiting} canSteer={canSteer} />
          <Composer
            session={id}
            placeholder={choice.agent ? text.placeholderAgent : text.placeholder}
            running={running}
            obstacle={obstacle}
            hint={busy}
            send={(content) => (running ? meanwhile(content, canSteer ? 'steer' : 'queue') : send(content))}
            queue={canSteer ? (content) => meanwhile(content, 'queue') : undefined}
            stop={async () => {
              const withdrawn = await stopTurn(id);
              waiting.refresh();
              return withdrawn.map(textOfMessage).filter((each) => each !== '');
            }}
            autoFocus={focused}
          >
            <Choices choice={choice} forks mode={mode} />
          </Composer>
        </div>
      </CanSendContext>
    </ChatActionsContext>
  );
}
