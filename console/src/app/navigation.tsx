import type { ReactNode } from 'react';
import { useText } from '../text/language.js';
import { classes } from '../ui/classes.js';
import {
  ChartIcon,
  ChatIcon,
  InboxIcon,
  KeyIcon,
  ListIcon,
  MenuIcon,
  PlugIcon,
  ShieldIcon,
  ToolIcon,
  TraceIcon,
} from '../ui/icons.js';
import { Link, type PageName, type Route } from '../ui/router.js';
import { strings } from './strings.js';

interface Entry {
  page: PageName;
  to: string;
  icon: ReactNode;
}

export const ENTRIES: readonly Entry[] = [
  { page: 'chat', to: '#/', icon: <ChatIcon size={18} /> },
  { page: 'inbox', to: '#/inbox', icon: <InboxIcon size={18} /> },
  { page: 'sessions', to: '#/sessions', icon: <ListIcon size={18} /> },
  { page: 'traces', to: '#/traces', icon: <TraceIcon size={18} /> },
  { page: 'tools', to: '#/tools', icon: <ToolIcon size={18} /> },
  { page: 'rules', to: '#/rules', icon: <ShieldIcon size={18} /> },
  { page: 'keys', to: '#/keys', icon: <KeyIcon size={18} /> },
  { page: 'usage', to: '#/usage', icon: <ChartIcon size={18} /> },
  { page: 'setup', to: '#/setup', icon: <PlugIcon size={18} /> },
];

/** On a phone these are at the bottom, the others under "More". */
const FIRST = 3;

interface NavigationProps {
  route: Route;
  waiting: number;
}

export function Sidebar({ route, waiting }: NavigationProps) {
  const text = useText(strings);
  return (
    <nav aria-label={text.navigation} className="flex shrink-0 flex-col gap-0.5 p-2">
      {ENTRIES.map((entry) => (
        <Link
          key={entry.page}
          to={entry.to}
          aria-current={route.page === entry.page ? 'page' : undefined}
          className={classes(
            'flex min-h-8 items-center gap-2.5 rounded-md px-2.5 text-sm font-medium no-underline',
            route.page === entry.page ? 'bg-raised text-ink' : 'text-muted hover:bg-raised hover:text-ink',
          )}
        >
          {entry.icon}
          <span className="flex-1">{text.pages[entry.page]}</span>
          {entry.page === 'inbox' && <Count waiting={waiting} />}
        </Link>
      ))}
    </nav>
  );
}

const SHEET = 'more-pages';

export function BottomBar({ route, waiting }: NavigationProps) {
  const text = useText(strings);
  const others = ENTRIES.slice(FIRST);
  return (
    <nav
      aria-label={text.navigation}
      className="grid grid-cols-4 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)]"
    >
      {ENTRIES.slice(0, FIRST).map((entry) => (
        <Link
          key={entry.page}
          to={entry.to}
          aria-current={route.page === entry.page ? 'page' : undefined}
          className={barItem(route.page === entry.page)}
        >
          <span className="relative">
            {entry.icon}
            {entry.page === 'inbox' && (
              <span className="absolute -top-2 left-3">
                <Count waiting={waiting} />
              </span>
            )}
          </span>
          {text.pages[entry.page]}
        </Link>
      ))}
      <button
        type="button"
        popoverTarget={SHEET}
        className={classes('cursor-pointer', barItem(others.some((entry) => entry.page === route.page)))}
      >
        <MenuIcon size={18} />
        {text.more}
      </button>
      <div
        id={SHEET}
        popover="auto"
        className="fixed inset-x-2 top-auto bottom-[calc(4rem+env(safe-area-inset-bottom))] m-0 w-auto rounded-xl border border-line bg-surface p-2 text-ink shadow-xl"
      >
        {others.map((entry) => (
          <Link
            key={entry.page}
            to={entry.to}
            aria-current={route.page === entry.page ? 'page' : undefined}
            onClick={() => document.getElementById(SHEET)?.hidePopover()}
            className={classes(
              'flex min-h-11 items-center gap-3 rounded-md px-3 text-sm font-medium no-underline',
              route.page === entry.page ? 'bg-raised' : 'hover:bg-raised',
            )}
          >
            {entry.icon}
            {text.pages[entry.page]}
          </Link>
        ))}
      </div>
    </nav>
  );
}

function barItem(active: boolean): string {
  return classes(
    'flex min-h-14 flex-col items-center justify-center gap-0.5 text-xs font-medium no-underline focus-visible:-outline-offset-2',
    active ? 'text-accent' : 'text-muted',
  );
}

function Count({ waiting }: { waiting: number }) {
  const text = useText(strings);
  if (waiting === 0) return null;
  return (
    <span className="inline-flex min-w-5 items-center justify-center rounded-full bg-warn px-1.5 py-px text-xs font-semibold text-bg tabular-nums">
      <span aria-hidden="true">{waiting > 99 ? '99+' : waiting}</span>
      <span className="sr-only">{text.waiting(waiting)}</span>
    </span>
  );
}
