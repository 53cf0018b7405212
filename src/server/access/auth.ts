/**
 * Who is asking, and may they. With keys every area needs one. Without keys the gateway listens on
 * loopback alone: models are open to everyone on this machine, everything that shows or changes
 * the gateway itself needs the console token.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../core/errors.js';
import type { Principal, Scope } from '../../engines/engine.js';
import { matchesAny } from '../../routing/model-glob.js';
import { CredentialIndex, digestOf, presentedSecrets } from './credentials.js';
import { RateLimit } from './rate-limit.js';
import { type Credential, OPERATOR_TIE } from './sign-in-cookie.js';
import { SignIns, type SignInsOptions } from './sign-ins.js';

/** What a route asks for. */
export type Access =
  /** Nothing: probes, health, the console's static files. */
  | { area: 'public' }
  /** A key where there are keys. */
  | { area: 'metrics' }
  /** `/v1`: the scope and, unless `uncounted`, the rate of a key; anyone where there are no keys. */
  | { area: 'models'; scope: Scope; uncounted?: true }
  /** `/api` and `/mcp`: a key, or the console's token or cookie. `counted`: the rate of the key as well. */
  | { area: 'console'; scope?: Scope; counted?: true };

export interface KeyOptions {
  key: string;
  name: string;
  scopes: readonly Scope[];
  models: readonly string[];
  team?: string;
  rpm?: number;
}

/** Credentials that the gateway has given to processes of its own. */
export interface InnerKeys {
  find(secret: string): Principal | undefined;
}

/** All that such a process may call. */
const INNER_PATHS: ReadonlySet<string> = new Set(['/v1/messages', '/v1/messages/count_tokens']);

interface AuthOptions extends Pick<SignInsOptions, 'port' | 'store' | 'log' | 'found'> {
  keys: readonly KeyOptions[];
  inner?: InnerKeys | undefined;
}

const LOCAL_CLIENT: Principal = { name: 'local', scopes: ['call'], models: ['*'] };
const LOCAL_OPERATOR: Principal = {
  name: 'local',
  scopes: ['call', 'approve', 'admin'],
  models: ['*'],
};

/** Who a key is, for what goes on in its name without a request; the operator where there are no keys. */
export function principalNamed(keys: readonly KeyOptions[], name: string): Principal | undefined {
  if (keys.length === 0) return name === LOCAL_OPERATOR.name ? LOCAL_OPERATOR : undefined;
  const key = keys.find((each) => each.name === name);
  return key && { name, scopes: key.scopes, models: key.models };
}

export class Auth {
  /** In the fragment of the address that `start` prints; undefined with keys, which take its place. */
  readonly consoleToken: string | undefined;
  readonly signIns: SignIns;
  /** The console token alone where there are no keys. */
  readonly #known: CredentialIndex<Credential>;
  readonly #rates = new Map<Principal, RateLimit>();
  readonly #inner: InnerKeys | undefined;

  constructor({ keys, inner, ...signIns }: AuthOptions) {
    this.#inner = inner;
    this.consoleToken = keys.length > 0 ? undefined : randomBytes(32).toString('base64url');
    const known: [string, Credential][] = keys.map(({ key, name, team, scopes, models, rpm }) => {
      const principal: Principal = { name, ...(team === undefined ? {} : { team }), scopes, models };
      if (rpm !== undefined) this.#rates.set(principal, new RateLimit(rpm));
      return [key, { tie: digestOf(key), principal }];
    });
    if (this.consoleToken !== undefined) {
      known.push([this.consoleToken, { tie: OPERATOR_TIE, principal: LOCAL_OPERATOR }]);
    }
    this.#known = new CredentialIndex(known);
    this.signIns = new SignIns({ ...signIns, credentials: known.map(([, credential]) => credential) });
  }

  /** Throws `unauthenticated`, `forbidden` or `rate_limited`. */
  admit(access: Access, headers: IncomingHttpHeaders): Principal {
    const principal = this.#isOpen(access) ? LOCAL_CLIENT : this.#identify(headers);
    const scope = 'scope' in access ? access.scope : undefined;
    if (scope !== undefined && !principal.scopes.includes(scope)) {
      throw new GatewayError(
        'forbidden',
        `The key "${principal.name}" does not have the scope "${scope}". Use a key that has it, or add it under server.keys.`,
      );
    }
    const isCounted =
      (access.area === 'models' && access.uncounted !== true) ||
      (access.area === 'console' && access.counted === true);
    if (isCounted) this.countAgainstRate(principal);
    return principal;
  }

  /** Whether the store has to be asked (`signIns.recall`) before `admit` can know who this is. */
  isStranger(access: Access, headers: IncomingHttpHeaders): boolean {
    if (this.#isOpen(access) || !this.signIns.isStranger(headers)) return false;
    return presentedSecrets(headers).every((secret) => this.credentialOf(secret) === undefined);
  }

  /** Whether a signed-in browser would still be let in. */
  isSignedIn(headers: IncomingHttpHeaders): boolean {
    return this.#find(headers) !== undefined;
  }

  /**
   * A process of the gateway's own on a path that it may use. It has no rate of its own: the
   * request that it works for was counted.
   */
  inner(path: string, headers: IncomingHttpHeaders): Principal | undefined {
    if (this.#inner === undefined || !INNER_PATHS.has(path)) return undefined;
    for (const secret of presentedSecrets(headers)) {
      const principal = this.#inner.find(secret);
      if (principal !== undefined) return principal;
    }
    return undefined;
  }

  /** A key, or the console token. */
  credentialOf(secret: string): Credential | undefined {
    return this.#known.find(secret);
  }

  /** Models and figures of a gateway without keys are open, and some routes always are. */
  #isOpen({ area }: Access): boolean {
    return area === 'public' || (this.consoleToken !== undefined && area !== 'console');
  }

  #identify(headers: IncomingHttpHeaders): Principal {
    const known = this.#find(headers);
    if (known !== undefined) return known;
    throw this.#refusal(presentedSecrets(headers).length > 0);
  }

  #find(headers: IncomingHttpHeaders): Principal | undefined {
    for (const secret of presentedSecrets(headers)) {
      const known = this.credentialOf(secret);
      if (known !== undefined) return known.principal;
    }
    return this.signIns.find(headers);
  }

  #refusal(presented: boolean): GatewayError {
    if (this.consoleToken !== undefined) {
      return new GatewayError(
        'unauthenticated',
        'This needs the console token. Open the address that the gateway printed when it started, or send the token as "authorization: Bearer".',
      );
    }
    return new GatewayError(
      'unauthenticated',
      presented
        ? 'The API key is not known to this gateway. Use one of those under server.keys.'
        : 'No API key was given. Send one as "authorization: Bearer" or "x-api-key".',
    );
  }

  /** For what asks more than once in one request. Throws `rate_limited`. */
  countAgainstRate(principal: Principal): void {
    const wait = this.#rates.get(principal)?.take(performance.now());
    if (wait === undefined) return;
    throw new GatewayError(
      'rate_limited',
      `The key "${principal.name}" has used up its requests a minute. Retry in ${wait} s.`,
      { retryAfter: wait, retryable: true },
    );
  }
}

/** Names of models that a key may not call are other people's business, unless it has `admin`. */
export function seesModel({ scopes, models }: Pick<Principal, 'scopes' | 'models'>, name: string): boolean {
  return scopes.includes('admin') || matchesAny(models, name);
}
