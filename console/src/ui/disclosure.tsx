import { type ReactNode, useId, useState } from 'react';
import { classes } from './classes.js';
import { ChevronRightIcon } from './icons.js';

interface DisclosureProps {
  summary: ReactNode;
  /** With `onToggle` the caller keeps it; without, it is where it begins. */
  open?: boolean | undefined;
  onToggle?: ((open: boolean) => void) | undefined;
  children: ReactNode;
  className?: string | undefined;
}

/** What is inside is made only while it is open. */
export function Disclosure({ summary, open = false, onToggle, children, className }: DisclosureProps) {
  const id = useId();
  const [own, setOwn] = useState(open);
  const shown = onToggle === undefined ? own : open;
  return (
    <div className={className}>
      <button
        type="button"
        aria-expanded={shown}
        aria-controls={shown ? id : undefined}
        onClick={() => {
          setOwn(!shown);
          onToggle?.(!shown);
        }}
        className="flex min-h-7 w-full cursor-pointer items-center gap-1.5 rounded text-left text-sm hover:text-ink"
      >
        <ChevronRightIcon
          className={classes('shrink-0 text-muted transition-transform', shown && 'rotate-90')}
        />
        <span className="min-w-0 flex-1">{summary}</span>
      </button>
      {shown && <div id={id}>{children}</div>}
    </div>
  );
}
