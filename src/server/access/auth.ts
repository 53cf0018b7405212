/**
 * Who is asking, and may they. With keys every area needs one. A gateway that has never had a key listens on
 * loopback alone: models are open to everyone on this machine, everything that shows or changes
 * the gateway itself needs the console token. The token goes on as long as no key can take its place.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../core/errors.js';
import type { Principal, Scope } from '../../engines/engine.js';
import { matchesAny } from '../../routing/model-glob.js';
import { CredentialIndex, digestOf, presentedSecrets } from './credentials.js';
import { type KeyRing, OPERATOR } from './key-ring.js';
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

/** Credentials that the gateway has given to processes of its own. */
export interface InnerKeys {
  find(secret: string): Principal | undefined;
}

/** All that such a process may call. */
const INNER_PATHS: ReadonlySet<string> = new Set(['/v1/messages', '/v1/messages/count_tokens']);

interface AuthOptions extends Pick<SignInsOptions, 'port' | 'store' | 'log' | 'found'> {
  keys: KeyRing;
  inner?: InnerKeys | undefined;
  /** The same for all workers of one port; without it a random one. */
  consoleToken?: string | undefined;
}

/** Only who can read the start line knows it. */
export const newConsoleToken = (): string => randomBytes(32).toString('base64url');

const LOCAL_CLIENT: Principal = { name: 'local', scopes: ['call'], models: ['*'] };

export class Auth {
  /** In the fragment of the address that `start` prints; undefined where keys take its place. */
  readonly consoleToken: string | undefined;
  readonly signIns: SignIns;
  readonly #keys: KeyRing;
  /** The console token, where there is one. */
  readonly #operator: CredentialIndex<Credential>;
  readonly #inner: InnerKeys | undefined;

  constructor({ keys, inner, consoleToken, ...signIns }: AuthOptions) {
    this.#inner = inner;
    this.#keys = keys;
    this.consoleToken = keys.hasOperator ? (consoleToken ?? newConsoleToken()) : undefined;
    const operator: Credential[] = keys.hasOperator ? [{ tie: OPERATOR_TIE, principal: OPERATOR }] : [];
    const token = this.consoleToken ?? '';
    this.#operator = new CredentialIndex(operator.map((credential) => [digestOf(token), credential]));
    this.signIns = new SignIns({
      ...signIns,
      credentials: () => [...keys.credentials, ...operator],
      isGood: (credential) => operator.includes(credential) || keys.isGood(credential),
    });
  }

  /** Throws `unauthenticated`, `forbidden` or `rate_limited`. */
  admit(access: Access, headers: IncomingHttpHeaders): Principal {
    return this.#let(access, this.#isOpen(access) ? LOCAL_CLIENT : this.#identify(headers));
  }

  /** As `admit`, by the rate of all nodes; asks the store where only that may know who this is. Rejects also as the store does. */
  async admitRecalled(access: Access, headers: IncomingHttpHeaders): Promise<Principal> {
    const principal = await this.#recalled(access, headers);
    if (isCounted(access)) await this.#keys.claimRate(principal);
    return principal;
  }

  async #recalled(access: Access, headers: IncomingHttpHeaders): Promise<Principal> {
    const known = this.#isOpen(access) ? LOCAL_CLIENT : this.#findKey(presentedSecrets(headers));
    if (known !== undefined) return this.#let(access, known);
    if (this.isStranger(access, headers)) await this.recall(headers);
    return this.admit(access, headers);
  }

  #let(access: Access, principal: Principal): Principal {
    checkScope(access, principal);
    if (isCounted(access)) this.#keys.countAgainstRate(principal);
    return principal;
  }

  /**
   * Who another node says that it is: that node has looked at the credential and counted the request. What the key
   * may do is looked up here. Throws as `admit` does.
   */
  async admitForwarded(access: Access, name: string): Promise<Principal> {
    const find = () => (this.#isOpen(access) ? LOCAL_CLIENT : this.#keys.named(name));
    let principal = find();
    if (principal === undefined) {
      await this.#keys.refresh();
      principal = find();
    }
    if (principal === undefined) {
      throw new GatewayError(
        'unauthenticated',
        `The node that has the session does not know the key "${name}", or no longer. Give all nodes the same keys.`,
      );
    }
    checkScope(access, principal);
    return principal;
  }

  /** Whether the store has to be asked (`recall`) before `admit` can know who this is. */
  isStranger(access: Access, headers: IncomingHttpHeaders): boolean {
    if (this.#isOpen(access)) return false;
    const secrets = presentedSecrets(headers);
    if (this.#findKey(secrets) !== undefined) return false;
    return this.signIns.isStranger(headers) || secrets.some((secret) => this.#keys.isStranger(secret));
  }

  /** From then on `admit` knows a stranger that another process on this store made known. Rejects as the store does. */
  async recall(headers: IncomingHttpHeaders): Promise<void> {
    await this.signIns.recall(headers);
    for (const secret of presentedSecrets(headers)) await this.recallKey(secret);
  }

  /** The same for a key alone. */
  async recallKey(secret: string): Promise<void> {
    if (this.#keys.isStranger(secret)) await this.#keys.refresh();
  }

  /** Whether these headers still stand for the same key with the same rights. */
  isStill(principal: Principal, headers: IncomingHttpHeaders): boolean {
    return this.#find(headers) === principal;
  }

  /** The same for one whom another node vouches for. */
  isStillNamed(principal: Principal): boolean {
    return this.#keys.named(principal.name) === principal;
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
    return this.#keys.find(secret) ?? this.#operator.find(digestOf(secret));
  }

  /** Models and figures of a gateway without keys are open, and some routes always are. */
  #isOpen({ area }: Access): boolean {
    return area === 'public' || (this.#keys.isOpen && area !== 'console');
  }

  #identify(headers: IncomingHttpHeaders): Principal {
    const known = this.#find(headers);
    if (known !== undefined) return known;
    throw this.#refusal(presentedSecrets(headers).length > 0);
  }

  #find(headers: IncomingHttpHeaders): Principal | undefined {
    return this.#findKey(presentedSecrets(headers)) ?? this.signIns.find(headers);
  }

  #findKey(secrets: readonly string[]): Principal | undefined {
    for (const secret of secrets) {
      const known = this.credentialOf(secret);
      if (known !== undefined) return known.principal;
    }
    return undefined;
  }

  #refusal(presented: boolean): GatewayError {
    if (this.#keys.isOpen) {
      return new GatewayError(
        'unauthenticated',
        'This needs the console token. Open the address that the gateway printed when it started, or send the token as "authorization: Bearer".',
      );
    }
    return new GatewayError(
      'unauthenticated',
      presented
        ? 'The API key is not known to this gateway: it may be wrong, expired or revoked. Use one that it has.'
        : 'No API key was given. Send one as "authorization: Bearer" or "x-api-key".',
    );
  }

  /** For what asks more than once in one request. Rejects with `rate_limited`. */
  async countAgainstRate(principal: Principal): Promise<void> {
    this.#keys.countAgainstRate(principal);
    await this.#keys.claimRate(principal);
  }
}

function isCounted(access: Access): boolean {
  if (access.area === 'models') return access.uncounted !== true;
  return access.area === 'console' && access.counted === true;
}

function checkScope(access: Access, { name, scopes }: Principal): void {
  const scope = 'scope' in access ? access.scope : undefined;
  if (scope === undefined || scopes.includes(scope)) return;
  throw new GatewayError(
    'forbidden',
    `The key "${name}" does not have the scope "${scope}". Use a key that has it, or add it to this one.`,
  );
}

/** Names of models that a key may not call are other people's business, unless it has `admin`. */
export function seesModel({ scopes, models }: Pick<Principal, 'scopes' | 'models'>, name: string): boolean {
  return scopes.includes('admin') || matchesAny(models, name);
}
