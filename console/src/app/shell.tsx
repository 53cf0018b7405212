import { useEffect, useRef } from 'react';
import { useApprovalAnnouncements, useWaitingCount } from '../approvals/waiting.js';
import { useText } from '../text/language.js';
import { announce } from '../ui/announce.js';
import { Button, buttonClasses } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { IconButton } from '../ui/icon-button.js';
import { PlusIcon, SearchIcon } from '../ui/icons.js';
import { Link, useRoute } from '../ui/router.js';
import { usePhone } from '../ui/use-media.js';
import { ConnectionBanner, ConnectionState } from './connection.js';
import { BottomBar, Sidebar } from './navigation.js';
import { Pages } from './pages.js';
import { SHORTCUT, usePalette } from './palette.js';
import { RecentList } from './recent-list.js';
import { SettingsButton, SettingsPanel } from './settings-panel.js';
import { strings } from './strings.js';
import { useUpdate } from './update.js';

/** The frame of every page: navigation, connection, settings. While not `shown` it is hidden behind the sign-in page. */
export function Shell({ shown }: { shown: boolean }) {
  const text = useText(strings);
  const route = useRoute();
  const phone = usePhone();
  const { show, palette } = usePalette();
  const waiting = useWaiting();
  const main = useRef<HTMLElement>(null);
  const name = route.page === 'unknown' ? text.unknown.title : text.pages[route.page];
  useTitle(name, waiting, shown);
  useAnnounced(name);
  return (
    <div className="flex h-dvh flex-col overflow-hidden md:grid md:grid-cols-[13rem_minmax(0,1fr)] lg:grid-cols-[16rem_minmax(0,1fr)]">
      <button
        type="button"
        onClick={() => main.current?.focus()}
        className="sr-only z-60 rounded-md bg-accent px-3 py-2 text-sm font-medium text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {text.skip}
      </button>
      {phone ? (
        <header className="flex items-center gap-3 border-b border-line bg-surface py-1 pr-1 pl-3">
          <Mark />
          <div className="flex flex-1 justify-end">
            <ConnectionState />
          </div>
          <SettingsButton compact />
        </header>
      ) : (
        <header className="flex min-h-0 flex-col overflow-y-auto border-r border-line bg-surface">
          <div className="px-4 pt-4 pb-2">
            <Mark />
          </div>
          <div className="flex gap-1 px-2 pb-1">
            <Link to="#/" className={classes('flex-1', buttonClasses('plain'))}>
              <PlusIcon />
              {text.newChat}
            </Link>
            <IconButton label={`${text.palette.open} (${SHORTCUT})`} variant="plain" onClick={show}>
              <SearchIcon />
            </IconButton>
          </div>
          <Sidebar route={route} waiting={waiting} />
          <RecentList open={route.page === 'chat' ? route.session : undefined} />
          <div className="mt-auto flex shrink-0 flex-col border-t border-line p-2">
            <div className="px-2 py-1.5">
              <ConnectionState />
            </div>
            <SettingsButton compact={false} />
          </div>
        </header>
      )}
      <div className="flex min-h-0 flex-1 flex-col">
        <ConnectionBanner />
        <UpdateBanner />
        <main
          ref={main}
          id="main"
          tabIndex={-1}
          className="relative min-h-0 flex-1 overflow-y-auto outline-none"
        >
          <Pages route={route} />
        </main>
      </div>
      {phone && <BottomBar route={route} waiting={waiting} />}
      <SettingsPanel />
      {palette}
    </div>
  );
}

function Mark() {
  return (
    <a href="#/" className="inline-flex items-center gap-2.5 rounded font-semibold text-ink no-underline">
      <img src="/favicon.svg" alt="" width={24} height={24} />
      Toolgate
    </a>
  );
}

function UpdateBanner() {
  const text = useText(strings);
  if (!useUpdate()) return null;
  return (
    <div className="flex items-center gap-3 border-b border-info/40 bg-info-soft px-4 py-1.5 text-sm">
      <p className="min-w-0 flex-1">{text.update}</p>
      <Button size="small" onClick={() => location.reload()}>
        {text.updateAction}
      </Button>
    </div>
  );
}

/** Announces the new page to a screen reader; the focus stays where it was. */
function useAnnounced(page: string): void {
  const last = useRef(page);
  useEffect(() => {
    if (last.current === page) return;
    last.current = page;
    announce(page);
  }, [page]);
}

/** For the shell alone: it also announces each new approval. */
function useWaiting(): number {
  useApprovalAnnouncements();
  return useWaitingCount();
}

/** `(2) Toolgate – Inbox`. */
function useTitle(page: string, waiting: number, shown: boolean): void {
  useEffect(() => {
    if (!shown) return;
    const name = page === '' ? 'Toolgate' : `Toolgate – ${page}`;
    document.title = waiting === 0 ? name : `(${waiting}) ${name}`;
  }, [page, waiting, shown]);
  useEffect(() => {
    // Only an installed app has a badge; elsewhere the call rejects.
    if (!('setAppBadge' in navigator)) return;
    const badge = waiting === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(waiting);
    badge.catch(() => {});
  }, [waiting]);
}
