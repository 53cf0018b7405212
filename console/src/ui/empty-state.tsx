import type { ReactNode } from 'react';

interface EmptyStateProps {
  title: string;
  text?: ReactNode;
  action?: ReactNode;
  icon?: ReactNode;
}

/** Nothing is here, and what to do about it. */
export function EmptyState({ title, text, action, icon }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-xl border border-line bg-surface px-4 py-12 text-center">
      {icon !== undefined && (
        <div
          aria-hidden="true"
          className="mb-1 flex size-12 items-center justify-center rounded-full bg-raised text-muted"
        >
          {icon}
        </div>
      )}
      <p className="font-medium">{title}</p>
      {text !== undefined && <div className="max-w-prose text-sm text-muted">{text}</div>}
      {action !== undefined && <div className="mt-2">{action}</div>}
    </div>
  );
}
