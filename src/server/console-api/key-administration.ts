/**
 * Keys at run time: made, listed, rotated, revoked. What `/api/keys` does for an administrator, and the command
 * for the operator of a store that no gateway runs on.
 */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import * as z from 'zod';
import { KEY_GRANTS, keyName } from '../../config/key-schema.js';
import { GatewayError } from '../../core/errors.js';
import type { KeyGrants, KeySecret, KeyStore, StoredKey } from '../../store/keys.js';
import { digestOf } from '../access/credentials.js';
import {
  budgetToConfig,
  type KeyOptions,
  type KeyRing,
  OPERATOR,
  SECRET_PREFIX,
} from '../access/key-ring.js';
import { read, wrong } from './read-fields.js';
import type { ChangedKeyWire, KeyWire, NewKeyWire } from './wire/keys.js';

/** Keys that are not revoked: all of them are in memory. */
const MOST_KEYS = 10_000;
const MOST_OVERLAP_S = 30 * 24 * 3600;
const EXPECTED_TIME = 'expected a time as 2030-01-31T12:00:00Z';

const ends = z.iso.datetime({ offset: true, error: EXPECTED_TIME }).transform((text) => Date.parse(text));

const newKey = z.strictObject({ name: keyName, ...KEY_GRANTS, expires_at: ends.nullish() });
const rotation = z.strictObject({
  overlap_s: z
    .number({ error: 'expected seconds' })
    .min(0)
    .max(MOST_OVERLAP_S, { error: `expected at most ${MOST_OVERLAP_S} seconds` })
    .default(0),
  expires_at: ends.nullish(),
});

interface KeyAdministrationOptions {
  ring: KeyRing;
  store: KeyStore;
  /** Whether any model that is configured has a name that matches. */
  hasModel(pattern: string): boolean;
  now?: () => number;
}

export class KeyAdministration {
  readonly #ring: KeyRing;
  readonly #store: KeyStore;
  readonly #hasModel: (pattern: string) => boolean;
  readonly #now: () => number;

  constructor({ ring, store, hasModel, now = Date.now }: KeyAdministrationOptions) {
    this.#ring = ring;
    this.#store = store;
    this.#hasModel = hasModel;
    this.#now = now;
  }

  async list(): Promise<KeyWire[]> {
    await this.#ring.refresh();
    return [
      ...this.#ring.configured.map(configuredToWire),
      ...this.#ring.stored.map((key) => this.#toWire(key)),
    ];
  }

  /** Throws `invalid_request` that names the field. */
  async create(body: unknown, by: string): Promise<NewKeyWire> {
    const { name, expires_at, ...grants } = read(newKey, body);
    for (const [index, pattern] of grants.models.entries()) checkPattern(pattern, `models.${index}`);
    this.#checkEnd(expires_at);
    await this.#ring.refresh();
    this.#checkName(name);
    const wasOpen = this.#ring.isOpen;
    const hadName = this.#ring.stored.some((key) => key.name === name);
    const { secret, ...known } = makeSecret();
    const added = await this.#store.add(
      {
        name,
        ...grantsOf(grants),
        ...known,
        ...(typeof expires_at === 'number' && { expiresAt: expires_at }),
      },
      by,
    );
    if (added === undefined) throw nameTaken(name);
    await this.#ring.refresh();
    const notes = [
      ...(wasOpen ? this.#firstKey(added) : []),
      ...(hadName
        ? [`A key that was revoked had the name "${name}": its sessions and usage belong to this one.`]
        : []),
      ...added.models
        .filter((pattern) => !this.#hasModel(pattern))
        .map((pattern) => `No model that is configured matches "${pattern}".`),
    ];
    return { ...this.#toWire(added), secret, notes };
  }

  /** `which` is an id or a name. Throws `not_found`, and `conflict` for a key of the configuration. */
  async rotate(which: string, body: unknown, by: string): Promise<NewKeyWire> {
    const { overlap_s, expires_at } = read(rotation, body ?? {});
    this.#checkEnd(expires_at);
    const key = await this.#find(which, 'rotated');
    if (typeof expires_at !== 'number' && this.#ring.stateOf(key) === 'expired') {
      throw wrong('expires_at', `the key expired at ${time(key.expiresAt)}; say when it ends from now on`);
    }
    const { secret, ...known } = makeSecret();
    const previousUntil = this.#now() + overlap_s * 1000;
    const rotated = await this.#store.rotate(
      key.id,
      {
        ...known,
        ...(overlap_s > 0 && { previousUntil }),
        ...(typeof expires_at === 'number' && { expiresAt: expires_at }),
      },
      by,
    );
    if (rotated === undefined) throw unknownKey(which);
    await this.#ring.refresh();
    const notes = [
      overlap_s > 0
        ? `The secret before is taken until ${time(previousUntil)}.`
        : 'The secret before is refused from now on.',
    ];
    return { ...this.#toWire(rotated), secret, notes };
  }

  /** As `rotate`. The key is refused when this resolves. */
  async revoke(which: string, by: string): Promise<ChangedKeyWire> {
    const key = await this.#find(which, 'revoked');
    const revoked = await this.#store.revoke(key.id, by);
    if (revoked === undefined) throw unknownKey(which);
    await this.#ring.refresh();
    const isLast = this.#ring.credentials.length === 0;
    const notes = [
      'Its requests are refused from now on, and its event streams and idle connections are closed. Answers that have begun are finished.',
      ...(isLast
        ? [
            'No key holds any more, and callers without one stay refused. Make one with `toolgate keys create`.',
          ]
        : []),
    ];
    return { ...this.#toWire(revoked), notes };
  }

  #firstKey({ scopes }: StoredKey): string[] {
    return [
      'This is the first key: from now on every request needs one. Callers without a key, who were taken until now, get 401.',
      scopes.includes('admin')
        ? 'The console token of this start works until the gateway stops. After that, sign in with a key that has the scope admin.'
        : 'No key has the scope admin, so the address that `start` prints goes on having the token for the console.',
    ];
  }

  async #find(which: string, done: string): Promise<StoredKey> {
    await this.#ring.refresh();
    if (this.#ring.configured.some(({ name }) => name === which)) {
      throw new GatewayError(
        'conflict',
        `The key "${which}" stands in the configuration file, under server.keys, and cannot be ${done} here. Change it there, then send SIGHUP or POST /api/reload.`,
        { param: 'id', detail: 'key_in_configuration' },
      );
    }
    const living = this.#ring.stored.filter(({ revokedAt }) => revokedAt === undefined);
    const found = living.find(({ id }) => id === which) ?? living.find(({ name }) => name === which);
    if (found === undefined) throw unknownKey(which);
    return found;
  }

  #checkName(name: string): void {
    if (name === OPERATOR.name) {
      throw wrong('name', `"${name}" is who callers without a key are; choose another name`);
    }
    const { configured, stored } = this.#ring;
    if (configured.some((key) => key.name === name)) {
      throw wrong('name', `the key "${name}" stands in the configuration file; choose another name`);
    }
    const living = stored.filter(({ revokedAt }) => revokedAt === undefined);
    if (living.some((key) => key.name === name)) throw nameTaken(name);
    if (living.length >= MOST_KEYS) {
      throw wrong('name', `there are ${MOST_KEYS} keys, the most there may be; revoke some`);
    }
  }

  #checkEnd(end: number | null | undefined): void {
    if (typeof end === 'number' && end <= this.#now()) {
      throw wrong('expires_at', `expected a time to come, got ${time(end)}`);
    }
  }

  #toWire(key: StoredKey): KeyWire {
    const { id, start, createdAt, createdBy, expiresAt, rotatedAt, previous, revokedAt } = key;
    const isHeld = previous !== undefined && previous.until > this.#now();
    const { maxStreams, maxAgents, bodyLimitMb, budget, ...rest } = key;
    return {
      ...grantsToWire({
        ...rest,
        ...(maxStreams !== undefined && { max_streams: maxStreams }),
        ...(maxAgents !== undefined && { max_agents: maxAgents }),
        ...(bodyLimitMb !== undefined && { body_limit_mb: bodyLimitMb }),
        ...(budget !== undefined && { budget: budgetToConfig(budget) }),
      }),
      ...{ id, source: 'store', state: this.#ring.stateOf(key), start },
      created_at: time(createdAt),
      created_by: createdBy,
      expires_at: timeOrNull(expiresAt),
      rotated_at: timeOrNull(rotatedAt),
      previous_until: isHeld ? time(previous.until) : null,
      revoked_at: timeOrNull(revokedAt),
    };
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** 256 bits: nothing that a slow hash would have to make up for. */
const SECRET_CHARACTERS = 43;
const SHOWN_CHARACTERS = SECRET_PREFIX.length + 5;

function makeSecret(): KeySecret & { secret: string } {
  let secret = SECRET_PREFIX;
  while (secret.length < SECRET_PREFIX.length + SECRET_CHARACTERS) {
    const byte = randomBytes(1)[0] ?? 255;
    // The rest of a division would make some letters likelier.
    if (byte < 4 * ALPHABET.length) secret += ALPHABET[byte % ALPHABET.length];
  }
  return { secret, digest: digestOf(secret).toString('hex'), start: secret.slice(0, SHOWN_CHARACTERS) };
}

/** Only the star is special in a name of a model; other signs of globs are a mistake. */
function checkPattern(pattern: string, param: string): void {
  if (/^[^\s?[\]{}]{1,200}$/.test(pattern)) return;
  throw wrong(
    param,
    `expected the name of a model, or a glob in which * stands for anything, got ${JSON.stringify(pattern.slice(0, 60))}`,
  );
}

function grantsOf({
  max_streams,
  max_agents,
  body_limit_mb,
  budget,
  workspaces,
  ...rest
}: Omit<z.output<typeof newKey>, 'name' | 'expires_at'>): KeyGrants {
  return {
    ...rest,
    ...(workspaces !== undefined && { workspaces: workspaces.map((path) => checkFolder(path)) }),
    ...(max_streams !== undefined && { maxStreams: max_streams }),
    ...(max_agents !== undefined && { maxAgents: max_agents }),
    ...(body_limit_mb !== undefined && { bodyLimitMb: body_limit_mb }),
    ...(budget !== undefined && {
      budget: {
        ...{ usd: budget.usd, per: budget.per, onUnknown: budget.on_unknown },
        ...(budget.soft_usd !== undefined && { softUsd: budget.soft_usd }),
      },
    }),
  };
}

function checkFolder(path: string): string {
  if (path.startsWith('/') || resolve(path) === path) return resolve(path);
  throw wrong(
    'workspaces',
    `expected whole paths, from the root on, got ${JSON.stringify(path.slice(0, 100))}`,
  );
}

type Grants = Omit<KeyOptions, 'key' | 'scopes'> & { scopes: readonly string[] };

function grantsToWire({
  name,
  user,
  team,
  scopes,
  models,
  workspaces,
  rpm,
  tpm,
  max_streams,
  max_agents,
  body_limit_mb,
  budget,
}: Grants) {
  return {
    name,
    user: user ?? null,
    team: team ?? null,
    scopes: [...scopes],
    models: [...models],
    workspaces: workspaces === undefined ? null : [...workspaces],
    rpm: rpm ?? null,
    tpm: tpm ?? null,
    max_streams: max_streams ?? null,
    max_agents: max_agents ?? null,
    body_limit_mb: body_limit_mb ?? null,
    budget: budget ?? null,
  };
}

function configuredToWire(key: KeyOptions): KeyWire {
  return {
    ...grantsToWire(key),
    ...{ id: null, source: 'configuration', state: 'active', start: null },
    ...{ created_at: null, created_by: null, expires_at: null, rotated_at: null },
    ...{ previous_until: null, revoked_at: null },
  };
}

const time = (at: number | undefined): string => new Date(at ?? 0).toISOString();
const timeOrNull = (at: number | undefined): string | null => (at === undefined ? null : time(at));

const nameTaken = (name: string): GatewayError =>
  wrong('name', `there is a key "${name}" already; choose another name, or rotate or revoke that one`);

function unknownKey(which: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no key ${JSON.stringify(which.slice(0, 100))}, or it is revoked. GET /api/keys lists them.`,
    { param: 'id', detail: 'key_not_found' },
  );
}
