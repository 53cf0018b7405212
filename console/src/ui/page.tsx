import type { ReactNode } from 'react';

interface PageProps {
  title: string;
  /** One or two sentences: what this page is for. */
  intro?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** `full` for what needs the whole width. */
  width?: 'normal' | 'full' | undefined;
}

/** The frame of a page that scrolls as a whole: its one `<h1>`, and what can be done on it. */
export function Page({ title, intro, actions, children, width = 'normal' }: PageProps) {
  return (
    <div className={`mx-auto w-full px-4 py-5 md:px-6 ${width === 'full' ? '' : 'max-w-6xl'}`}>
      <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {intro !== undefined && <div className="mt-1 max-w-3xl text-sm text-muted">{intro}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a page, with its heading. */
export function Section({
  title,
  intro,
  actions,
  children,
}: {
  title: string;
  intro?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="mt-6 first:mt-0">
      <div className="mb-2 flex flex-wrap items-end justify-between gap-2">
        <div className="min-w-0">
          <h2 className="text-base font-semibold">{title}</h2>
          {intro !== undefined && <div className="max-w-prose text-sm text-muted">{intro}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
