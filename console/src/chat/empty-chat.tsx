import { useText } from '../text/language.js';
import { strings } from './strings.js';

interface EmptyChatProps {
  agent: boolean;
  /** The embedded demo model answers. */
  demo: boolean;
  onExample: (text: string) => void;
}

/** Before anything was said. */
export function EmptyChat({ agent, demo, onExample }: EmptyChatProps) {
  const text = useText(strings);
  const { plain, agent: ofAgent } = demo
    ? text.demoExamples
    : { plain: text.plainExamples, agent: text.agentExamples };
  const examples = agent ? ofAgent : plain;
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="m-auto w-full max-w-2xl px-4 py-8">
        <h1 className="text-center text-2xl font-semibold tracking-tight text-balance">{text.emptyTitle}</h1>
        <p className="mt-2 text-center text-sm text-balance text-muted">{text.emptyText}</p>
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
