/**
 * Starts the console from this browser's cache when the gateway cannot be reached, and keeps what a
 * page that is open may still load of its version. It never answers for `/api`, `/v1` or anything
 * else that is not a file of the console.
 *
 * The build puts in what it made: VERSION changes whenever one of the FILES does.
 */
const VERSION = '%VERSION%';
const FILES = ['%FILES%'];

const PREFIX = 'toolgate-console-';
const CACHE = PREFIX + VERSION;
const PAGE = '/';
const INBOX = '#/inbox';
/** Names with a hash of the content: whichever version kept one, it is the right one. */
const ASSETS = '/assets/';
/** This version and the previous one, because pages of that one may still be open. */
const KEPT = 2;

self.addEventListener('install', (event) => {
  event.waitUntil(fill().then(() => self.skipWaiting()));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(forget().then(() => self.clients.claim()));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (request.mode === 'navigate') {
    if (pathname === PAGE) event.respondWith(page(request));
  } else if (pathname.startsWith(ASSETS)) {
    event.respondWith(asset(request));
  } else if (FILES.includes(pathname)) {
    event.respondWith(fresh(request));
  }
});

/** The gateway asks while no page is open. A page that is open shows the same under the same tag. */
self.addEventListener('push', (event) => {
  event.waitUntil(show(event.data?.json() ?? {}));
});

/** A person who presses on a notification wants the page that it is about; one who presses a button has decided. */
self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event;
  notification.close();
  const { to, delivery, actions = [] } = notification.data ?? {};
  const route = typeof to === 'string' && to.startsWith('#/') ? to : INBOX;
  const pressed = actions.find(({ choice }) => choice === action);
  event.waitUntil(pressed === undefined ? open(route) : decide(delivery, pressed, route));
});

function show({ tag, title = 'Toolgate', body = '', silent = false, actions = [], to, delivery }) {
  const buttons = actions.map(({ choice, label }) => ({ action: choice, title: label }));
  const data = { to, delivery, actions };
  return self.registration.showNotification(title, {
    ...{ tag, body, silent, data, actions: buttons, icon: '/favicon.svg' },
    requireInteraction: actions.length > 0,
  });
}

/** The notification has no sign-in; what it carries proves that it was asked. What is not taken is opened. */
async function decide(delivery, { choice, proof }, route) {
  try {
    const answer = await fetch('/api/push/answer', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ delivery, choice, proof }),
    });
    if (answer.ok) return undefined;
  } catch {
    // Nobody knows whether it arrived: the card says.
  }
  return open(route);
}

/** All or nothing; what the browser has in its own cache is asked for again. */
async function fill() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' })));
}

async function forget() {
  const own = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  const old = own.slice(0, Math.max(0, own.length - (KEPT - 1)));
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** The gateway's page wins: a new version is never kept back by an old one. */
async function page(request) {
  try {
    const answer = await fetch(request);
    if (answer.status < 500) return answer;
  } catch {
    // The cached page then says that the gateway cannot be reached.
  }
  return (await kept(PAGE)) ?? Response.error();
}

async function asset(request) {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

async function fresh(request) {
  try {
    return await fetch(request);
  } catch {
    return (await kept(request)) ?? Response.error();
  }
}

async function kept(request) {
  const cache = await caches.open(CACHE);
  return cache.match(request, { ignoreVary: true, ignoreSearch: true });
}

/** Opens the route in the tab that was visible last, or in a new one where none is open. */
async function open(to) {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const own = windows.filter(({ url }) => new URL(url).pathname === PAGE);
  const shown = own.find(({ focused }) => focused) ?? own[0];
  if (shown === undefined) return self.clients.openWindow(PAGE + to);
  // The page navigates itself, so that a draft in it is kept.
  shown.postMessage({ type: 'go', to });
  // Refused where the click is too long ago.
  return shown.focus().catch(() => undefined);
}
