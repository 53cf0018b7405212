import { Component, type ErrorInfo, type ReactNode } from 'react';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { CodeBlock } from '../ui/code-block.js';
import { strings } from './strings.js';

interface Caught {
  error: unknown;
}

/** A page that fails takes no other page with it. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { caught: Caught | undefined }> {
  override state: { caught: Caught | undefined } = { caught: undefined };

  static getDerivedStateFromError(error: unknown): { caught: Caught } {
    return { caught: { error } };
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    console.error('A page failed', error, componentStack);
  }

  override render(): ReactNode {
    const { caught } = this.state;
    if (caught === undefined) return this.props.children;
    return <Failed error={caught.error} onRetry={() => this.setState({ caught: undefined })} />;
  }
}

/** Messages of browsers when a chunk cannot be fetched. */
const NOT_LOADED = /dynamically imported module|module script failed|importing a module/i;

function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const text = useText(strings);
  const message = error instanceof Error ? error.message : String(error);
  const notLoaded = NOT_LOADED.test(message);
  return (
    <div role="alert" className="mx-auto flex max-w-2xl flex-col gap-4 px-4 py-10">
      <h1 className="text-xl font-semibold">{text.crash.title}</h1>
      <p>{notLoaded ? text.crash.chunk : text.crash.text}</p>
      <CodeBlock text={message} label={text.crash.details} title wrap maxHeight="max-h-60" />
      <div className="flex flex-wrap gap-2">
        {!notLoaded && (
          <Button variant="primary" onClick={onRetry}>
            {text.crash.again}
          </Button>
        )}
        <Button variant={notLoaded ? 'primary' : 'plain'} onClick={() => location.reload()}>
          {text.crash.reload}
        </Button>
      </div>
    </div>
  );
}
