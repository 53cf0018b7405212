/** Which page is shown, from the fragment of the address: the browser's own back and forward work. */
import type { AnchorHTMLAttributes } from 'react';
import { useSyncExternalStore } from 'react';

export type Route = { query: URLSearchParams } & (
  | { page: 'chat'; session: string | undefined }
  | { page: 'traces'; id: string | undefined }
  | { page: 'inbox' | 'sessions' | 'tools' | 'rules' | 'keys' | 'usage' | 'setup' }
  | { page: 'unknown'; path: string }
);

export type PageName = Exclude<Route['page'], 'unknown'>;

export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  const [first, second, ...more] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  const unknown: Route = { page: 'unknown', path, query };
  if (more.length > 0) return unknown;
  switch (first) {
    case undefined:
      return { page: 'chat', session: undefined, query };
    case 'chat':
      return { page: 'chat', session: second, query };
    case 'traces':
      return { page: 'traces', id: second, query };
    case 'inbox':
    case 'sessions':
    case 'tools':
    case 'rules':
    case 'keys':
    case 'usage':
    case 'setup':
      return second === undefined ? { page: first, query } : unknown;
    default:
      return unknown;
  }
}

/** `to` begins with `#/`. With `replace` the browser does not go back to the present page. */
export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (to === location.hash) return;
  if (!replace) {
    location.hash = to;
    return;
  }
  history.replaceState(null, '', to);
  // `replaceState` fires no event.
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, current, current);
}

export function Link({
  to,
  ...rest
}: { to: string } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'>) {
  return <a href={to} {...rest} />;
}

let known = { hash: '#/', route: parseRoute('#/') };

/** The same object for the same address. */
function current(): Route {
  if (location.hash !== known.hash) known = { hash: location.hash, route: parseRoute(location.hash) };
  return known.route;
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  addEventListener('popstate', listener);
  return () => {
    removeEventListener('hashchange', listener);
    removeEventListener('popstate', listener);
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
