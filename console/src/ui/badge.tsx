import type { ReactNode } from 'react';
import { classes } from './classes.js';

export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'plain';

export const TONE_SOFT: Record<Tone, string> = {
  ok: 'bg-ok-soft text-ok border-ok/30',
  warn: 'bg-warn-soft text-warn border-warn/30',
  danger: 'bg-danger-soft text-danger border-danger/30',
  info: 'bg-info-soft text-info border-info/30',
  plain: 'bg-raised text-muted border-line',
};

/** A word for a state; the colour only repeats it. */
export function Badge({
  tone = 'plain',
  children,
  icon,
  title,
  className,
}: {
  tone?: Tone | undefined;
  children: ReactNode;
  icon?: ReactNode;
  title?: string | undefined;
  className?: string | undefined;
}) {
  return (
    <span
      title={title}
      className={classes(
        'inline-flex max-w-full items-center gap-1 rounded border px-1.5 py-px text-xs font-medium whitespace-nowrap',
        TONE_SOFT[tone],
        className,
      )}
    >
      {icon}
      <span className="min-w-0 truncate">{children}</span>
    </span>
  );
}
