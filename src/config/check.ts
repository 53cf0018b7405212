/** Checks across keys: how the parts of a configuration fit together. */
import { isPostgresUrl } from '../core/postgres-url.js';
import type { PathProblem } from './config-error.js';
import { nearest } from './nearest.js';
import { BROWSERS } from './notify-schema.js';
import type { Config, RemoteUpstreamConfig } from './schema.js';

/** Names that stand for the gateway's own virtual servers in `mcp__NAME__TOOL`. */
const OWN_MCP_SERVERS: ReadonlySet<string> = new Set(['auth', 'gateway']);

export function checkConfig(config: Config, { hostFlag }: { hostFlag: boolean }): PathProblem[] {
  return [
    ...checkExposure(config, hostFlag),
    ...checkKeys(config),
    ...checkUpstreams(config),
    ...checkModels(config),
    ...checkMcpServers(config),
    ...checkCluster(config),
    ...checkNotify(config),
  ];
}

function checkCluster({ cluster, store }: Config): PathProblem[] {
  if (cluster === undefined || isPostgresUrl(store)) return [];
  const message =
    'nodes share a PostgreSQL database; expected `store: postgres://…` beside it, or no `cluster`';
  return [{ path: ['cluster'], message }];
}

function checkNotify({ notify }: Config): PathProblem[] {
  if (notify === undefined) return [];
  const problems: PathProblem[] = [];
  const known = Object.keys(notify.targets);
  for (const [index, { targets }] of (notify.ask ?? []).entries()) {
    for (const [at, target] of targets.entries()) {
      if (target === BROWSERS || Object.hasOwn(notify.targets, target)) continue;
      const close = nearest(target, known);
      const hint = close === undefined ? `Known: ${known.join(', ')}` : `Did you mean \`${close}\`?`;
      const message = `expected the name of a target, got \`${target}\`. ${hint}`;
      problems.push({ path: ['notify', 'ask', index, 'targets', at], message });
    }
  }
  for (const [name, target] of Object.entries(notify.targets)) {
    if (target.type !== 'ntfy' || Object.hasOwn(notify.people, target.person)) continue;
    const message = `expected a name of \`notify.people\`, got \`${target.person}\`. Add it there: \`${target.person}: {}\``;
    problems.push({ path: ['notify', 'targets', name, 'person'], message });
  }
  return problems;
}

function checkExposure({ server }: Config, hostFlag: boolean): PathProblem[] {
  if (server.keys.length > 0 || isLoopback(server.host)) return [];
  const message =
    `without \`server.keys\` the gateway listens on loopback only; expected 127.0.0.1, ::1 or localhost, ` +
    `got \`${server.host}\`. Add a key, or listen on 127.0.0.1`;
  return [{ path: ['server', 'host'], message, ...(hostFlag ? { flag: '--host' } : {}) }];
}

function checkKeys({ server }: Config): PathProblem[] {
  const problems: PathProblem[] = [];
  const names = new Set<string>();
  const values = new Set<string>();
  for (const [index, { key, name }] of server.keys.entries()) {
    if (values.has(key)) {
      problems.push({
        path: ['server', 'keys', index, 'key'],
        message: 'the same key is there twice; keep one',
      });
    } else if (names.has(name)) {
      const message = `expected a name that no other key has (sessions belong to it), got \`${name}\` again`;
      problems.push({ path: ['server', 'keys', index, 'name'], message });
    }
    names.add(name);
    values.add(key);
  }
  return problems;
}

function checkUpstreams({ server, upstreams }: Config): PathProblem[] {
  const problems: PathProblem[] = [];
  for (const [name, upstream] of Object.entries(upstreams)) {
    if (upstream.dialect === 'demo') continue;
    if (name === 'demo') {
      const message =
        'the name `demo` is the embedded demo model; expected `demo`, or another name for this one';
      problems.push({ path: ['upstreams', name, 'dialect'], message });
    } else if (pointsToItself(upstream.base_url, server)) {
      const message = 'this is the address of the gateway itself, so a request would go round for ever';
      problems.push({ path: ['upstreams', name, 'base_url'], message });
    }
    problems.push(...checkTargets(name, upstream, server));
  }
  return problems;
}

function checkTargets(
  upstream: string,
  { targets = [] }: Pick<RemoteUpstreamConfig, 'targets'>,
  server: Config['server'],
): PathProblem[] {
  const problems: PathProblem[] = [];
  const names = new Set<string>();
  for (const [index, { name, base_url }] of targets.entries()) {
    const path = ['upstreams', upstream, 'targets', index];
    const known = name ?? String(index + 1);
    if (names.has(known)) {
      const message = `expected a name that no other target has (one without a name has its position), got \`${known}\` again`;
      problems.push({ path: name === undefined ? path : [...path, 'name'], message });
    }
    names.add(known);
    if (base_url !== undefined && pointsToItself(base_url, server)) {
      const message = 'this is the address of the gateway itself, so a request would go round for ever';
      problems.push({ path: [...path, 'base_url'], message });
    }
  }
  return problems;
}

/** Whether `address` is where a gateway with this `server` section listens. */
export function pointsToItself(address: string, server: { host: string; port: number }): boolean {
  if (server.port === 0 || !URL.canParse(address)) return false;
  const url = new URL(address);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (port !== server.port) return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const everywhere = server.host === '0.0.0.0' || server.host === '::';
  return host === server.host || (isLoopback(host) && (everywhere || isLoopback(server.host)));
}

function checkModels({ models, upstreams }: Config): PathProblem[] {
  const problems: PathProblem[] = [];
  const known = Object.keys(upstreams);
  for (const [name, model] of Object.entries(models)) {
    if (/\[1m\]$/i.test(name)) {
      const message = `a [1m] suffix is not part of the name; expected \`${name.replace(/\[1m\]$/i, '')}\``;
      problems.push({ path: ['models', name], message });
    }
    const wanted = typeof model.upstream === 'string' ? [model.upstream] : model.upstream;
    for (const [index, upstream] of wanted.entries()) {
      if (Object.hasOwn(upstreams, upstream)) continue;
      const path = ['models', name, 'upstream'];
      const close = nearest(upstream, known);
      const hint = close === undefined ? `Known: ${known.join(', ')}` : `Did you mean \`${close}\`?`;
      const message = `expected the name of an upstream, got \`${upstream}\`. ${hint}`;
      problems.push({ path: typeof model.upstream === 'string' ? path : [...path, index], message });
    }
  }
  return problems;
}

function checkMcpServers({ mcp_servers }: Config): PathProblem[] {
  return Object.keys(mcp_servers)
    .filter((name) => OWN_MCP_SERVERS.has(name))
    .map((name) => ({
      path: ['mcp_servers', name],
      message: `the name \`${name}\` is taken by the gateway's own MCP server; expected another one`,
    }));
}

const LOOPBACK_V4 = /^127(?:\.\d{1,3}){3}$/;

/** Whether listening on `host` is reachable from this machine alone. A name other than `localhost` is not trusted to be. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || LOOPBACK_V4.test(bare);
}
