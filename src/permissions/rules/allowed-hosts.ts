/**
 * Hosts that commands may reach from inside the sandbox: those that the operator allows WebFetch, with
 * the same meaning. What people allow later is for WebFetch alone, and an open `WebFetch` opens
 * nothing here: a command can send what it likes.
 */
import type { Config } from '../../config/schema.js';
import { type RuleTarget, readRule } from './rule.js';

interface Domain {
  host: string;
  /** Its sub-domains alone. */
  below: boolean;
  /** Empty, or `:3000`, where the rule names one. */
  port: string;
}

const NUMERIC = /^[\d.]+$|^\[/;

/** As the proxy takes them: `example.com` is that name alone, `*.example.com` what is below it. */
export function allowedHosts({
  allow,
  ask,
  deny,
}: Pick<Config['permissions'], 'allow' | 'ask' | 'deny'>): string[] {
  const closing = [...ask, ...deny];
  const closed = closing.flatMap((rule) => domainOf(rule, true) ?? []);
  if (closing.some((rule) => closesAll(readRule(rule, true)))) return [];
  return allow.flatMap((rule) => {
    const domain = domainOf(rule, false);
    if (domain === undefined) return [];
    const { host, below, port } = domain;
    const itself = below || closed.some((other) => covers(other, host)) ? [] : [`${host}${port}`];
    const open = !NUMERIC.test(host) && !closed.some((other) => overlaps(other, host));
    return open ? [...itself, `*.${host}${port}`] : itself;
  });
}

function domainOf(rule: string, wide: boolean): Domain | undefined {
  const target = readRule(rule, wide);
  if (target.kind !== 'host' || target.host === undefined) return undefined;
  return { host: target.host, below: target.below, port: /[^:](:\d{1,5})\)$/.exec(rule)?.[1] ?? '' };
}

/** A rule about a host that cannot be read is about all of them. */
function closesAll(target: RuleTarget): boolean {
  switch (target.kind) {
    case 'host':
      return target.host === undefined;
    case 'tool':
      return target.name === 'WebFetch';
    case 'tools':
      return 'WebFetch'.startsWith(target.prefix);
    default:
      return false;
  }
}

const covers = (rule: Domain, host: string): boolean =>
  host.endsWith(`.${rule.host}`) || (host === rule.host && !rule.below);

/** Whether a rule is about anything below `host`. */
const overlaps = (rule: Domain, host: string): boolean =>
  host === rule.host || host.endsWith(`.${rule.host}`) || rule.host.endsWith(`.${host}`);
