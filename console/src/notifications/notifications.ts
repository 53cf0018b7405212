/** Notifications of the browser. They are asked for by a click alone, and can be switched in part. */
import { useSyncExternalStore } from 'react';
import { browserTimers } from '../data/events/ports.js';
import { isOwnSession } from '../data/own-sessions.js';
import { client } from '../data/page.js';
import { language } from '../text/language.js';
import { type Notice, type NotificationSettings, Notifier } from './notifier.js';
import { Presence } from './presence.js';
import { strings } from './strings.js';

export type { NotificationSettings } from './notifier.js';

interface NotificationsView {
  /** `default`: the browser has not asked yet. */
  permission: 'unsupported' | 'default' | 'granted' | 'denied';
  settings: NotificationSettings;
}

const KEY = 'toolgate.notifications';
const ON: NotificationSettings = { approvals: true, turnEnds: true };

const listeners = new Set<() => void>();
let view: NotificationsView = { permission: 'unsupported', settings: ON };
let started = false;

export function useNotifications(): NotificationsView {
  return useSyncExternalStore(subscribe, () => view);
}

/** Only from a click: browsers refuse for good where it comes by itself. */
export async function askForNotifications(): Promise<NotificationsView['permission']> {
  if (view.permission === 'default') await Notification.requestPermission();
  refresh();
  return view.permission;
}

export function setNotificationSettings(change: Partial<NotificationSettings>): void {
  const settings = { ...view.settings, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Without storage it holds for this page.
  }
  view = { ...view, settings };
  notifyListeners();
}

/** For as long as the page is open. */
export function startNotifications(): void {
  if (started) return;
  started = true;
  refresh();
  // Another tab has changed them.
  addEventListener('storage', ({ key }) => {
    if (key === KEY || key === null) refresh();
  });
  addEventListener('focus', refresh);
  // A click on a notification that the service worker shows.
  navigator.serviceWorker?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const to = routeIn(data);
    if (to !== undefined) location.hash = to;
  });
  if (view.permission === 'unsupported') return;
  const presence = new Presence();
  presence.start();
  new Notifier({
    now: browserTimers.now,
    after: browserTimers.after,
    store: client.store,
    settings: () => view.settings,
    mayShow: () => client.tabs.leads && Notification.permission === 'granted',
    isSeen: (route) => presence.isSeen(route),
    isOwn: isOwnSession,
    text: () => strings[language()],
    show,
  }).start();
}

/** Shown by this page where the browser lets it, else by the service worker. */
function show({ tag, title, body, to, again }: Notice): () => void {
  const options = { tag, body, icon: '/favicon.svg', data: { to }, renotify: again };
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      window.focus();
      location.hash = to;
      notification.close();
    };
    return () => notification.close();
  } catch {
    return showByWorker(title, options);
  }
}

/** Phones let only the service worker show any; a click is then for its handler. */
function showByWorker(title: string, options: NotificationOptions & { tag: string }): () => void {
  const registration = navigator.serviceWorker?.ready;
  const shown = registration?.then((worker) => worker.showNotification(title, options));
  shown?.catch(() => {});
  return () => {
    void shown
      ?.then(() => registration)
      .then((worker) => worker.getNotifications({ tag: options.tag }))
      .then((found) => {
        for (const each of found) each.close();
      })
      .catch(() => {});
  };
}

function routeIn(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  if (!('type' in message) || message.type !== 'go' || !('to' in message)) return undefined;
  return typeof message.to === 'string' && message.to.startsWith('#/') ? message.to : undefined;
}

function refresh(): void {
  const permission = typeof Notification === 'undefined' ? 'unsupported' : Notification.permission;
  const settings = readSettings();
  const same = permission === view.permission && settings.approvals === view.settings.approvals;
  if (same && settings.turnEnds === view.settings.turnEnds) return;
  view = { permission, settings };
  notifyListeners();
}

function readSettings(): NotificationSettings {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    if (typeof kept !== 'object' || kept === null) return ON;
    return {
      approvals: !('approvals' in kept) || kept.approvals !== false,
      turnEnds: !('turnEnds' in kept) || kept.turnEnds !== false,
    };
  } catch {
    return ON;
  }
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
