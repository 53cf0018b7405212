import type { ReactNode } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Skeleton } from '../../ui/skeleton.js';
import { strings } from './strings.js';

interface ListStateProps {
  /** Nothing is there yet. */
  loading: boolean;
  error: Error | undefined;
  /** There is something to show, also when the last try failed. */
  present: boolean;
  onReload: () => void;
  children: ReactNode;
}

/** Loading, failed, or there; what is there stays when fetching it again fails. */
export function ListState({ loading, error, present, onReload, children }: ListStateProps) {
  const text = useText(strings);
  const again = (
    <Button size="small" onClick={onReload}>
      {text.tryAgain}
    </Button>
  );
  if (error !== undefined && !present) {
    return <ErrorNote title={text.loadFailed} message={error.message} action={again} />;
  }
  if (loading && !present) return <Skeleton lines={6} />;
  return (
    <>
      {error !== undefined && (
        <div className="mb-3">
          <ErrorNote title={text.stale} message={error.message} action={again} />
        </div>
      )}
      {children}
    </>
  );
}

export function MoreButton({ busy, onMore }: { busy: boolean; onMore: () => void }) {
  const text = useText(strings);
  return (
    <div className="mt-3 flex justify-center">
      <Button busy={busy} onClick={onMore}>
        {text.more}
      </Button>
    </div>
  );
}
