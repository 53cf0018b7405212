/** Every route of the gateway, from its own table, asked as a client on a socket would. */
import { ROUTES } from '../../src/server/surfaces.js';
import type { TestGateway } from '../support/gateway.js';
import { type RawResponse, requestBytes, sendRaw } from '../support/raw-http.js';

/** All that anybody may ask. A route that is not here needs a key or the console's token. */
export const OPEN_ROUTES: readonly string[] = [
  'GET /',
  'HEAD /',
  'HEAD /api/hello',
  'GET /healthz',
  'GET /readyz',
  'POST /api/session',
  'DELETE /api/session',
  // For authorisation servers; it says nothing that its address does not (test/e2e/mcp-sign-in.test.ts).
  'GET /api/mcp/:name/client',
  'GET /api/mcp/:name/callback',
  // A provider's signature, or the proof in a button, takes the place of a key (test/e2e/notify.test.ts).
  'POST /api/notify/:target/answer',
  'POST /api/push/answer',
];

/** What goes on for as long as it is read, and how it comes to an end by itself. */
const ENDED_BY: Readonly<Record<string, string>> = { '/api/events': '?once=1' };

export interface Asked {
  method: string;
  path: string;
}

export const nameOf = ({ method, path }: Asked): string => `${method} ${path}`;
export const EVERY_ROUTE: readonly Asked[] = ROUTES.map(({ method, path }) => ({ method, path }));
export const CLOSED_ROUTES = EVERY_ROUTE.filter((route) => !OPEN_ROUTES.includes(nameOf(route)));
/** What shows or changes the gateway itself. */
export const OWN_ROUTES = CLOSED_ROUTES.filter(({ path }) => /^\/(?:api|mcp)\//.test(path));

export const tokenOf = ({ consoleUrl }: TestGateway): string =>
  new URL(consoleUrl).hash.replace('#token=', '');

/** `PORT` in a header stands for the gateway's. */
export function send(
  { url }: TestGateway,
  { method, path }: Asked,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  const given = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll('PORT', new URL(url).port),
  ]);
  const posts = method === 'POST';
  const body = posts ? { body: '{"name":"evil","config":{"type":"stdio","command":"true"}}' } : {};
  const typed = posts ? { 'content-type': 'application/json' } : {};
  const request = requestBytes(url, {
    method,
    path: path.replace(/[:*]\w+/g, 'x') + (ENDED_BY[path] ?? ''),
    headers: { ...typed, ...Object.fromEntries(given) },
    ...body,
  });
  return sendRaw(url, request);
}

export const corsHeaders = ({ headers }: RawResponse): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'));
