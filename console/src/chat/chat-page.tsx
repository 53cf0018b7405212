import { lazy, Suspense, useEffect, useState } from 'react';
import type { SessionModeWire } from '../../../src/server/console-api/wire/sessions.js';
import { ConnectFirst } from '../connect/connect-first.js';
import { startChat } from '../data/chat.js';
import { useIdentity } from '../data/identity.js';
import { preloadMarkdown } from '../markdown/markdown.js';
import { useText } from '../text/language.js';
import { navigate, useRoute } from '../ui/router.js';
import { Skeleton } from '../ui/skeleton.js';
import type { ContentBlock } from './attachments.js';
import { Choices } from './choices.js';
import { Composer } from './composer.js';
import { keepFocus, useKeptFocus } from './kept-focus.js';
import { fetchModels, firstModel, lastModel, rememberModel } from './models.js';
import { strings } from './strings.js';
import { useModelChoice } from './use-model-choice.js';
import { useObstacle } from './use-obstacle.js';
import { addressOf } from './use-talk.js';

/** The list, the cards and all that they show are not needed before there is a conversation. */
const loadOne = () => import('./one-chat.js');
const OneChat = lazy(() => loadOne().then((loaded) => ({ default: loaded.OneChat })));

function preloadConversation(): void {
  preloadMarkdown();
  loadOne().catch(() => {
    // Asked for again when it is shown.
  });
}

export function ChatPage({ session }: { session: string | undefined }) {
  const isNew = session === undefined;
  useEffect(() => {
    if (!isNew) return preloadConversation();
    // Whoever only looks fetches none of it; who types or presses is about to have one.
    const done = new AbortController();
    const first = { capture: true, once: true, signal: done.signal };
    for (const what of ['keydown', 'pointerdown']) addEventListener(what, preloadConversation, first);
    return () => done.abort();
  }, [isNew]);
  const [tries, setTries] = useState(0);
  const asked = useRoute().query.get('model') ?? undefined;
  // With its own key: a model that was just connected is in no list that was fetched before.
  if (session === undefined) return <NewChat key={asked} asked={asked} />;
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <OneChat key={`${session} ${tries}`} session={session} onRetry={() => setTries(tries + 1)} />
    </Suspense>
  );
}

function NewChat({ asked }: { asked: string | undefined }) {
  const text = useText(strings);
  const choice = useModelChoice(undefined, asked);
  const focused = useKeptFocus();
  useEffect(() => {
    if (asked !== undefined) rememberModel(asked);
  }, [asked]);
  const obstacle = useObstacle();
  const [suggestion, setSuggestion] = useState<{ text: string; id: number }>();
  const [mode, setMode] = useState<SessionModeWire | null>(null);
  const { model, cwd, agent } = choice;
  const send = async (content: string | ContentBlock[]): Promise<void> => {
    // A fast typist may send before the list of models has loaded.
    const known = model ?? firstModel(await fetchModels(), lastModel());
    if (known === undefined) throw new Error(text.reasons.model);
    const started = await startChat({
      model: known,
      content,
      ...(cwd === undefined ? {} : { cwd }),
      ...(agent && mode !== null ? { mode } : {}),
    });
    keepFocus();
    navigate(addressOf(started));
  };
  return (
    <div className="flex h-full flex-col">
      <EmptyChat
        agent={choice.agent}
        demo={choice.demo}
        onlyDemo={choice.onlyDemo}
        onExample={(example) => setSuggestion({ text: example, id: (suggestion?.id ?? 0) + 1 })}
      />
      <Composer
        session={undefined}
        placeholder={choice.agent ? text.placeholderAgent : text.placeholder}
        running={false}
        obstacle={
          obstacle ?? (model === undefined && choice.list.status === 'ready' ? text.reasons.model : undefined)
        }
        send={send}
        stop={async () => []}
        suggestion={suggestion}
        autoFocus={focused || asked !== undefined}
      >
        <Choices choice={choice} forks={false} mode={{ value: mode, set: setMode }} />
      </Composer>
    </div>
  );
}

interface EmptyChatProps {
  agent: boolean;
  /** The embedded demo model answers. */
  demo: boolean;
  onlyDemo: boolean;
  onExample: (text: string) => void;
}

/** Before anything was said. */
function EmptyChat({ agent, demo, onlyDemo, onExample }: EmptyChatProps) {
  const text = useText(strings);
  const { plain, agent: ofAgent } = demo
    ? text.demoExamples
    : { plain: text.plainExamples, agent: text.agentExamples };
  const examples = agent ? ofAgent : plain;
  const admin = useIdentity().can('admin');
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="m-auto w-full max-w-2xl px-4 py-8">
        <h1 className="text-center text-2xl font-semibold tracking-tight text-balance">{text.emptyTitle}</h1>
        <p className="mt-2 text-center text-sm text-balance text-muted">{text.emptyText}</p>
        {onlyDemo && admin && <ConnectFirst />}
        <ul aria-label={text.examples} className="mt-6 grid gap-2 sm:grid-cols-3">
          {examples.map((example) => (
            <li key={example} className="flex">
              <button
                type="button"
                onClick={() => onExample(example)}
                className="flex w-full items-start rounded-lg border border-line bg-surface p-3 text-left text-sm text-muted transition-colors hover:border-accent hover:text-ink"
              >
                {example}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
