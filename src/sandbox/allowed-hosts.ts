/**
 * Hosts that commands may reach behind the sandbox: those that the operator allows WebFetch. What
 * people allow later is for WebFetch alone, and an open `WebFetch` opens nothing here: a command
 * can send what it likes.
 */
import type { Config } from '../config/schema.js';

const DOMAIN_RULE = /^WebFetch\(domain:(?:\*\.)?([^)]+)\)$/i;

export function allowedHosts({
  allow,
  ask,
  deny,
}: Pick<Config['permissions'], 'allow' | 'ask' | 'deny'>): string[] {
  const closed = domainsIn([...ask, ...deny]);
  if ([...ask, ...deny].some((rule) => rule === 'WebFetch' || rule === '*')) return [];
  return domainsIn(allow)
    .filter((host) => !closed.some((other) => isWithin(host, other) || isWithin(other, host)))
    .flatMap((host) => [host, `*.${host}`]);
}

function domainsIn(rules: readonly string[]): string[] {
  return rules.flatMap((rule) => DOMAIN_RULE.exec(rule)?.[1]?.trim().toLowerCase().replace(/\.$/, '') ?? []);
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
