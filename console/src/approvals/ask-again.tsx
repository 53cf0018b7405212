import { useState } from 'react';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { startChat } from '../data/chat.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/error-note.js';
import { makeVisible } from '../ui/visible.js';
import { strings } from './strings.js';

/** Says so in the conversation: the agent decides whether it still needs the call. */
export function AskAgain({ call, session, title }: { call: string; session: string; title: string }) {
  const text = useText(strings);
  const [status, setStatus] = useState<'idle' | 'busy' | 'done'>('idle');
  const [problem, setProblem] = useState<string>();
  if (status === 'done') return <p className="text-xs text-muted">{text.askedAgain}</p>;
  const ask = async () => {
    setStatus('busy');
    setProblem(undefined);
    const failure = await askAgain({ call, session, content: text.askAgainText(makeVisible(title)) });
    setProblem(failure);
    setStatus(failure === undefined ? 'done' : 'idle');
  };
  return (
    <div className="flex flex-col items-start gap-1.5">
      <Button size="small" busy={status === 'busy'} onClick={() => void ask()}>
        {text.askAgain}
      </Button>
      {problem !== undefined && <ErrorNote title={text.askAgainFailed} message={problem} />}
    </div>
  );
}

/** Resolves to undefined when the message was sent, else to the error. Never rejects. */
async function askAgain({
  call,
  session,
  content,
}: {
  /** The idempotency key: a second press for the same call sends nothing. */
  call: string;
  session: string;
  content: string;
}): Promise<string | undefined> {
  try {
    const { model } = await get<SessionWire>(`/api/sessions/${encodeURIComponent(session)}?limit=1`);
    await startChat({ model, session, content, client_id: `again-${call}` });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
