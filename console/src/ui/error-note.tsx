import type { ReactNode } from 'react';
import { ErrorIcon } from './icons.js';

interface ErrorNoteProps {
  title?: string | undefined;
  message: string;
  action?: ReactNode;
}

/** Read out when it appears. */
export function ErrorNote({ title, message, action }: ErrorNoteProps) {
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-md border border-danger/40 bg-danger-soft px-3 py-2 text-sm text-ink"
    >
      <ErrorIcon className="mt-0.5 shrink-0 text-danger" />
      <div className="min-w-0 flex-1">
        {title !== undefined && <p className="font-medium text-danger">{title}</p>}
        <p className="break-words whitespace-pre-line">{message}</p>
        {action !== undefined && <div className="mt-2 flex flex-wrap gap-2">{action}</div>}
      </div>
    </div>
  );
}
