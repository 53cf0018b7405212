/**
 * All keys that hold now: those of the configuration, and those that were made at run time, which are in the
 * store. A change through this process holds at once; one that another process made, within a moment, and a new
 * key of it with its first use.
 */
import { scryptSync } from 'node:crypto';
import type { LimitClaims } from '../../cluster/limit-claims.js';
import { GatewayError } from '../../core/errors.js';
import { MinuteWindow } from '../../core/minute-window.js';
import type { Principal, Scope } from '../../engines/engine.js';
import type { Log } from '../../observability/log.js';
import type { KeyStore, StoredKey } from '../../store/keys.js';
import { CredentialIndex, digestOf } from './credentials.js';
import { RateLimit } from './rate-limit.js';
import type { Credential } from './sign-in-cookie.js';

/** A key of the configuration. */
export interface KeyOptions {
  key: string;
  name: string;
  scopes: readonly Scope[];
  models: readonly string[];
  user?: string;
  team?: string;
  /** Absolute. */
  workspaces?: readonly string[];
  rpm?: number;
  tpm?: number;
  max_streams?: number;
  max_agents?: number;
  body_limit_mb?: number;
  budget?: { usd: number; soft_usd?: number; per: 'day' | 'week' | 'month'; on_unknown: 'allow' | 'deny' };
}

/** What a key may use, as the configuration says it. */
type KeyLimitOptions = Pick<
  KeyOptions,
  'name' | 'team' | 'rpm' | 'tpm' | 'max_streams' | 'max_agents' | 'budget'
>;

/** How a key that was made at run time stands. */
type KeyState =
  | 'active'
  | 'expired'
  | 'revoked'
  /** The configuration has a key of the same name, which holds in its place. */
  | 'replaced';

interface HeldCredential extends Credential {
  /** Milliseconds since the epoch. */
  until: number;
}

export const OPERATOR: Principal = {
  name: 'local',
  scopes: ['call', 'approve', 'admin'],
  models: ['*'],
};

/** What a secret that was made at run time begins with: known to people, redactors and scanners. */
export const SECRET_PREFIX = 'sk-tg-';

/** Between two looks for what another process has changed. */
const LOOK_MS = 1000;

const MINUTE_MS = 60_000;
/** Where other nodes have used a limit up, which this one cannot know the end of. */
const ELSEWHERE_WAIT_S = 5;

/** Requests a minute of a key. */
interface Rate {
  rpm: number;
  limit: RateLimit;
  used: MinuteWindow;
}

interface KeyRingOptions {
  /** Of the configuration. */
  keys: readonly KeyOptions[];
  /** Those that were made at run time; without it there are none. */
  store?: KeyStore;
  log?: Pick<Log, 'info' | 'warn'>;
  /** Where other nodes share the limits. */
  claims?: LimitClaims | undefined;
  now?: () => number;
}

export class KeyRing {
  /** Whether there is an operator besides the keys: no key had `admin` when the process began. */
  readonly hasOperator: boolean;
  readonly #store: KeyStore | undefined;
  readonly #log: KeyRingOptions['log'];
  readonly #claims: LimitClaims | undefined;
  readonly #now: () => number;
  #configured: readonly KeyOptions[];
  #stored: readonly StoredKey[];
  #revision: number;
  #principals = new Map<string, Principal>();
  #credentials: readonly HeldCredential[] = [];
  #until = new Map<Credential, number>();
  #index = new CredentialIndex<HeldCredential>([]);
  #rates = new Map<string, Rate>();
  #isOpen = true;
  /** When the next secret ends by itself: what waits for news in its name ends then too. */
  #nextEnd = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isLost = false;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout | undefined;

  /** Rejects as the store does. The caller closes it. */
  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const { store } = options;
    const revision = (await store?.revision()) ?? 0;
    return new KeyRing(options, revision, (await store?.list()) ?? []);
  }

  /** Of fixed keys where nothing else is given. */
  constructor(options: KeyRingOptions, revision = 0, stored: readonly StoredKey[] = []) {
    this.#store = options.store;
    this.#log = options.log;
    this.#claims = options.claims;
    this.#now = options.now ?? Date.now;
    this.#configured = options.keys;
    this.#stored = stored;
    this.#revision = revision;
    this.#arrange();
    this.hasOperator =
      options.keys.length === 0 &&
      ![...this.#principals.keys()].some((name) => this.named(name)?.scopes.includes('admin'));
    if (this.#store !== undefined) {
      this.#timer = setInterval(() => void this.refresh().catch(() => {}), LOOK_MS).unref();
    }
  }

  /** There has never been a key: models are open to this machine. Never again once there was one. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Those that are good now, the operator's apart. */
  get credentials(): readonly Credential[] {
    return this.#credentials.filter((each) => this.isGood(each));
  }

  get configured(): readonly KeyOptions[] {
    return this.#configured;
  }

  get stored(): readonly StoredKey[] {
    return this.#stored;
  }

  get limits(): KeyLimitOptions[] {
    return [
      ...this.#configured,
      ...this.#stored.filter((key) => this.stateOf(key) === 'active').map(limitsOf),
    ];
  }

  find(secret: string): Credential | undefined {
    const found = this.#index.find(digestOf(secret));
    return found !== undefined && this.isGood(found) ? found : undefined;
  }

  isGood(credential: Credential): boolean {
    return (this.#until.get(credential) ?? 0) > this.#now();
  }

  /** Who a key is where it may call models: for what goes on in its name without a request. */
  caller(name: string): Principal | undefined {
    const principal = this.named(name);
    return principal?.scopes.includes('call') ? principal : undefined;
  }

  named(name: string): Principal | undefined {
    const isGood = this.#credentials.some((each) => each.principal.name === name && this.isGood(each));
    if (isGood) return this.#principals.get(name);
    return this.hasOperator && name === OPERATOR.name ? OPERATOR : undefined;
  }

  /** Which secret a key has now, without saying it: another after a rotation, and of a new key with the same name. */
  credentialNameOf(name: string): string | undefined {
    const principal = this.named(name);
    if (principal === undefined) return undefined;
    if (principal === OPERATOR) return OPERATOR.name;
    const configured = this.#configured.find((each) => each.name === name);
    if (configured !== undefined) return slowDigestOf(configured);
    return this.#stored.find((key) => key.name === name && this.stateOf(key) === 'active')?.digest;
  }

  stateOf(key: StoredKey): KeyState {
    if (key.revokedAt !== undefined) return 'revoked';
    if (this.#configured.some(({ name }) => name === key.name)) return 'replaced';
    return key.expiresAt !== undefined && key.expiresAt <= this.#now() ? 'expired' : 'active';
  }

  /** Throws `rate_limited`. */
  countAgainstRate({ name }: Principal): void {
    const rate = this.#rates.get(name);
    const now = performance.now();
    const wait = rate?.limit.take(now);
    if (wait !== undefined) throw usedUp(name, wait);
    rate?.used.add(now, 1);
  }

  /** Whether the request that was just counted is within the limit on all nodes. Rejects with `rate_limited`. */
  async claimRate({ name }: Principal): Promise<void> {
    const rate = this.#rates.get(name);
    if (rate === undefined || this.#claims === undefined) return;
    const { rpm, limit, used } = rate;
    const claim = {
      ...{ name: `key rpm ${name}`, limit: rpm, forMs: MINUTE_MS },
      used: () => used.sum(performance.now()),
    };
    if (await this.#claims.covers(claim)) return;
    limit.giveBack();
    used.add(performance.now(), -1);
    throw usedUp(name, ELSEWHERE_WAIT_S);
  }

  /** Whether only the store may know it. */
  isStranger(secret: string): boolean {
    return this.#store !== undefined && secret.startsWith(SECRET_PREFIX) && this.find(secret) === undefined;
  }

  /** Calls `listener` whenever keys have come, changed or gone. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The keys of a configuration that was loaded again. */
  configure(keys: readonly KeyOptions[]): void {
    this.#configured = keys;
    this.#changed();
  }

  /** What has been written before this is called holds when it resolves. Rejects as the store does. */
  refresh(): Promise<void> {
    if (this.#looking === undefined) return this.#look();
    // One that runs may have read too early.
    this.#next ??= this.#looking.catch(() => {}).then(() => this.#look());
    return this.#next;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#isLost = true;
  }

  #look(): Promise<void> {
    this.#next = undefined;
    this.#looking = this.#read().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #read(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    if (this.#nextEnd <= this.#now()) this.#changed();
    try {
      const revision = await store.revision();
      this.#isLost = false;
      if (revision === this.#revision) return;
      this.#stored = await store.list();
      // Read before the list: what changed in between is found by the next look.
      this.#revision = revision;
    } catch (error) {
      if (!this.#isLost) this.#log?.warn({ err: error }, 'keys could not be read; those of before hold');
      this.#isLost = true;
      throw error;
    }
    this.#changed();
  }

  #changed(): void {
    this.#arrange();
    for (const listener of this.#listeners) listener();
  }

  #arrange(): void {
    const before = new Map(this.#credentials.map((each) => [credentialId(each), each]));
    const active = this.#stored.filter((key) => ['active', 'expired'].includes(this.stateOf(key)));
    const principals = [...this.#configured.map(principalOf), ...active.map(storedPrincipal)].map((made) =>
      this.#sameAsBefore(made),
    );
    this.#principals = new Map(principals.map((principal) => [principal.name, principal]));
    const made = [
      ...this.#configured.map(({ key, name }) => [name, digestOf(key), Number.POSITIVE_INFINITY] as const),
      ...active.flatMap(secretsOf),
    ].flatMap(([name, tie, until]) => {
      const principal = this.#principals.get(name);
      return principal === undefined ? [] : [{ principal, tie, until }];
    });
    // A credential that is as it was stays the same object: sign-ins compare it.
    this.#credentials = made.map((each) => {
      const old = before.get(credentialId(each));
      return old?.principal === each.principal ? old : each;
    });
    const ends = this.#credentials.map(({ until }) => until).filter((until) => until > this.#now());
    this.#nextEnd = Math.min(...ends, Number.POSITIVE_INFINITY);
    this.#until = new Map(this.#credentials.map((each) => [each, each.until]));
    this.#index = new CredentialIndex(this.#credentials.map((each) => [each.tie, each]));
    this.#arrangeRates();
    if (this.#configured.length > 0 || this.#stored.length > 0) this.#isOpen = false;
  }

  #sameAsBefore(principal: Principal): Principal {
    const old = this.#principals.get(principal.name);
    return old !== undefined && JSON.stringify(old) === JSON.stringify(principal) ? old : principal;
  }

  /** A rate that is as it was goes on counting. */
  #arrangeRates(): void {
    const before = this.#rates;
    this.#rates = new Map();
    for (const { name, rpm } of this.limits) {
      if (rpm === undefined) continue;
      const old = before.get(name);
      const used = old?.used ?? new MinuteWindow();
      this.#rates.set(name, old?.rpm === rpm ? old : { rpm, limit: new RateLimit(rpm), used });
    }
  }
}

function usedUp(name: string, wait: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    `The key "${name}" has used up its requests a minute. Retry in ${wait} s.`,
    { retryAfter: wait, retryable: true },
  );
}

const credentialId = ({ principal, tie, until }: HeldCredential): string =>
  `${principal.name} ${tie.toString('hex')} ${until}`;

const slowDigests = new WeakMap<KeyOptions, string>();

/** It is kept in the store, and people choose keys that a fast digest would let one guess. */
function slowDigestOf(options: KeyOptions): string {
  const known = slowDigests.get(options);
  if (known !== undefined) return known;
  const made = scryptSync(options.key, options.name, 32).toString('hex');
  slowDigests.set(options, made);
  return made;
}

const SCOPES: readonly Scope[] = ['call', 'approve', 'admin'];

interface PrincipalFields extends Pick<Principal, 'name' | 'scopes' | 'models'> {
  team?: string | undefined;
  workspaces?: readonly string[] | undefined;
  body_limit_mb?: number | undefined;
}

function principalOf({
  name,
  team,
  scopes,
  models,
  workspaces,
  body_limit_mb: bodyLimitMb,
}: PrincipalFields): Principal {
  return {
    name,
    ...(team === undefined ? {} : { team }),
    scopes,
    models,
    ...(workspaces === undefined ? {} : { workspaces }),
    ...(bodyLimitMb === undefined ? {} : { bodyLimitMb }),
  };
}

function storedPrincipal({ name, team, scopes, models, workspaces, bodyLimitMb }: StoredKey): Principal {
  return principalOf({
    name,
    team,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    models,
    workspaces,
    body_limit_mb: bodyLimitMb,
  });
}

function limitsOf({ name, team, rpm, tpm, maxStreams, maxAgents, budget }: StoredKey): KeyLimitOptions {
  return {
    name,
    ...(team !== undefined && { team }),
    ...(rpm !== undefined && { rpm }),
    ...(tpm !== undefined && { tpm }),
    ...(maxStreams !== undefined && { max_streams: maxStreams }),
    ...(maxAgents !== undefined && { max_agents: maxAgents }),
    ...(budget !== undefined && { budget: budgetToConfig(budget) }),
  };
}

/** In the words of the configuration. */
export function budgetToConfig({
  usd,
  softUsd,
  per,
  onUnknown,
}: NonNullable<StoredKey['budget']>): NonNullable<KeyOptions['budget']> {
  return { usd, ...(softUsd !== undefined && { soft_usd: softUsd }), per, on_unknown: onUnknown };
}

function secretsOf(key: StoredKey): (readonly [name: string, tie: Buffer, until: number])[] {
  const { name, digest, previous, expiresAt = Number.POSITIVE_INFINITY } = key;
  const current = [name, Buffer.from(digest, 'hex'), expiresAt] as const;
  if (previous === undefined) return [current];
  return [[name, Buffer.from(previous.digest, 'hex'), Math.min(previous.until, expiresAt)], current];
}
