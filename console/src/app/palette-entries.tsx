/** What the palette offers: actions of the page, of the open conversation, and conversations that are found. */
import { type ReactNode, useEffect, useState } from 'react';
import type { SessionContentWire, SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { useIdentity } from '../data/identity.js';
import { useOpenTurn } from '../data/open-turn.js';
import type { SessionDialog } from '../sessions/session-dialogs.js';
import { pathOf, sessionItems } from '../sessions/session-items.js';
import { strings as sessionStrings } from '../sessions/strings.js';
import { setLanguage, useLanguage, useText } from '../text/language.js';
import {
  ChatIcon,
  ForkIcon,
  GlobeIcon,
  LinkIcon,
  PlayIcon,
  PlugIcon,
  PlusIcon,
  SignOutIcon,
  StopIcon,
  SunIcon,
  UserIcon,
} from '../ui/icons.js';
import { navigate } from '../ui/router.js';
import { toast } from '../ui/toast.js';
import { ENTRIES } from './navigation.js';
import { copyLink, fork, resume } from './session-commands.js';
import { showSettings } from './settings-panel.js';
import { signOut } from './sign-in.js';
import { strings } from './strings.js';
import { setTheme, THEMES, useTheme } from './theme.js';

export interface PaletteEntry {
  id: string;
  label: string;
  icon: ReactNode;
  /** Where a word was said. */
  note?: string | undefined;
  run(): void;
}

export interface PaletteDialogs {
  onDialog: (dialog: SessionDialog) => void;
  onConnect: () => void;
}

/** `open`: the conversation that is shown. Those that have each word of `query` in their name. */
export function useActions(
  open: SessionWire | undefined,
  query: string,
  { onDialog, onConnect }: PaletteDialogs,
): PaletteEntry[] {
  const text = useText(strings);
  const sessionText = useText(sessionStrings);
  const running = useOpenTurn();
  const { can } = useIdentity();
  const theme = useTheme();
  const language = useLanguage();
  const entries: PaletteEntry[] = [
    { id: 'new', label: text.newChat, icon: <PlusIcon />, run: () => navigate('#/') },
  ];
  if (running !== undefined)
    entries.push({
      id: 'stop',
      label: text.palette.stop,
      icon: <StopIcon />,
      run: running.stop,
    });
  if (open !== undefined) {
    const {
      ofThis,
      fork: forkWord,
      forked,
      resume: resumeWord,
      resumed,
      copyLink: copyWord,
      copied,
    } = text.palette;
    if (open.interrupted && open.resumable && running === undefined && can('call'))
      entries.push({
        ...{ id: 'resume', label: ofThis(resumeWord), icon: <PlayIcon /> },
        run: () => void resume(open, resumed),
      });
    entries.push(
      { id: 'fork', label: ofThis(forkWord), icon: <ForkIcon />, run: () => void fork(open, forked) },
      { id: 'link', label: ofThis(copyWord), icon: <LinkIcon />, run: () => void copyLink(copied) },
    );
  }
  for (const item of open === undefined ? [] : sessionItems(sessionText, open, onDialog)) {
    if (item === 'separator') continue;
    const label = text.palette.ofThis(item.label);
    entries.push({ id: `session-${item.label}`, label, icon: item.icon, run: item.onSelect });
  }
  // The page of the chat is a new one.
  for (const { page, to, icon } of ENTRIES.filter((entry) => entry.page !== 'chat'))
    entries.push({ id: page, label: text.palette.goTo(text.pages[page]), icon, run: () => navigate(to) });
  if (can('admin'))
    entries.push({ id: 'connect', label: text.palette.connect, icon: <PlugIcon />, run: onConnect });
  entries.push({ id: 'settings', label: text.settings, icon: <UserIcon />, run: showSettings });
  for (const each of THEMES.filter((other) => other !== theme))
    entries.push({
      id: `theme-${each}`,
      label: text.palette.theme(text.themes[each]),
      icon: <SunIcon />,
      run: () => setTheme(each),
    });
  entries.push({
    id: 'language',
    label: text.palette.otherLanguage,
    icon: <GlobeIcon />,
    run: () => setLanguage(language === 'en' ? 'zh' : 'en'),
  });
  const leave = async () => {
    if (!(await signOut())) toast(text.signOutFailed, 'danger');
  };
  entries.push({ id: 'sign-out', label: text.signOut, icon: <SignOutIcon />, run: () => void leave() });
  const words = query.toLowerCase().split(/\s+/);
  return entries.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
}

/** Long enough for a word to be typed. */
const SETTLE_MS = 250;
const FOUND_MOST = 8;

interface Found {
  query: string;
  sessions: readonly SessionWire[];
  failed: boolean;
}

/** Those that have the words, also in what was said; without words the latest. `searching` until they are there. */
export function useFoundSessions(query: string): {
  entries: PaletteEntry[];
  searching: boolean;
  failed: boolean;
} {
  const text = useText(strings);
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    const ended = new AbortController();
    const search = query === '' ? '' : `&archived=include&search=${encodeURIComponent(query)}`;
    const ask = () =>
      get<{ data: SessionWire[] }>(`/api/sessions?limit=${FOUND_MOST}${search}`, ended.signal).then(
        ({ data }) => setFound({ query, sessions: data, failed: false }),
        () => !ended.signal.aborted && setFound({ query, sessions: [], failed: true }),
      );
    const timer = setTimeout(() => void ask(), query === '' ? 0 : SETTLE_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [query]);
  const isNow = found?.query === query;
  const entries = (isNow ? found.sessions : []).map((session) => ({
    id: session.id,
    label: session.title ?? text.recent.untitled,
    icon: <ChatIcon />,
    note: session.match?.text,
    run: () => navigate(`#/chat/${encodeURIComponent(session.id)}`),
  }));
  return { entries, searching: !isNow, failed: isNow && found.failed };
}

/** The conversation that is shown, for what can be done with it. */
export function useOpenSession(id: string | undefined): SessionWire | undefined {
  const [session, setSession] = useState<SessionWire>();
  useEffect(() => {
    if (id === undefined) return;
    const ended = new AbortController();
    get<SessionContentWire>(`${pathOf({ id })}?limit=1`, ended.signal).then(setSession, () => {});
    return () => ended.abort();
  }, [id]);
  return session?.id === id ? session : undefined;
}
