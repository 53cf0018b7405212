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
    <div className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line px-4 py-10 text-center">
      {icon !== undefined && <div className="text-muted">{icon}</div>}
      <p className="font-medium">{title}</p>
      {text !== undefined && <div className="max-w-prose text-sm text-muted">{text}</div>}
      {action !== undefined && <div className="mt-2">{action}</div>}
    </div>
  );
}
