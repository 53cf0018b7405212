import type { ReactNode } from 'react';
import { classes } from '../../ui/classes.js';

/** What scrolls must be reachable by keyboard. */
const REACHABLE = { tabIndex: 0 };

interface ScrollAreaProps {
  /** What is in it. */
  label: string;
  children: ReactNode;
  className?: string | undefined;
  maxHeight?: string | undefined;
}

/** Long content scrolls in itself, so that what is below it stays in reach. */
export function ScrollArea({ label, children, className, maxHeight = 'max-h-80' }: ScrollAreaProps) {
  return (
    <section
      {...REACHABLE}
      aria-label={label}
      className={classes(
        'min-w-0 overflow-auto overscroll-x-contain rounded-md border border-line bg-code focus-visible:-outline-offset-2',
        maxHeight,
        className,
      )}
    >
      {children}
    </section>
  );
}
