/**
 * Where keys are managed: over the API of the gateway that runs, where the command has a key for that, else in its
 * store. Both keep to the same rules.
 */

import type { LoadedConfig } from '../config/load.js';
import { resolveKeys } from '../config/paths.js';
import { GatewayError } from '../core/errors.js';
import { isObject } from '../core/is-object.js';
import { KeyRing, OPERATOR } from '../server/access/key-ring.js';
import { KeyAdministration } from '../server/console-api/key-administration.js';
import { meets } from '../server/console-api/keys.js';
import type { ChangedKeyWire, KeyWire, NewKeyWire } from '../server/console-api/wire/keys.js';
import { openStore, parseStoreUrl } from '../store/open/open-store.js';
import { gatewayAddress, isGateway } from './checks/port.js';
import type { CliIo } from './shared/command.js';

/** Takes the place of a key of the file, for a gateway that has none with `admin` there. */
const KEY_VARIABLE = 'TOOLGATE_KEY';
const ANSWER_TIMEOUT_MS = 30_000;

export interface KeyClient {
  /** For the person: where the keys are. */
  readonly place: string;
  list(): Promise<KeyWire[]>;
  create(body: object): Promise<NewKeyWire>;
  rotate(which: string, body: object): Promise<NewKeyWire>;
  revoke(which: string): Promise<ChangedKeyWire>;
  close(): Promise<void>;
}

/** Rejects with GatewayError where neither can be used. */
export async function openKeyClient(loaded: LoadedConfig, io: CliIo): Promise<KeyClient> {
  const address = gatewayAddress(loaded.config.server);
  const isRunning = loaded.config.server.port !== 0 && (await isGateway(address));
  const key = adminKey(loaded, io);
  if (isRunning && key !== undefined) return overApi(`http://${address}`, key);
  return inStore(loaded, isRunning);
}

function adminKey({ config }: LoadedConfig, { env }: CliIo): string | undefined {
  return env[KEY_VARIABLE] || config.server.keys.find(({ scopes }) => scopes.includes('admin'))?.key;
}

function overApi(origin: string, key: string): KeyClient {
  const url = origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const said: T = JSON.parse(await answer.text());
    if (answer.ok) return said;
    throw new GatewayError('invalid_request', `${url}: ${messageIn(said)}`);
  };
  const path = (which: string): string => `/api/keys/${encodeURIComponent(which)}`;
  return {
    place: url,
    list: async () => (await send<{ data: KeyWire[] }>('GET', '/api/keys')).data,
    create: (body) => send('POST', '/api/keys', body),
    rotate: (which, body) => send('POST', `${path(which)}/rotate`, body),
    revoke: (which) => send('DELETE', path(which)),
    close: async () => {},
  };
}

function messageIn(said: unknown): string {
  const error = isObject(said) && isObject(said['error']) ? said['error'] : {};
  return typeof error['message'] === 'string' ? error['message'] : 'The gateway refused it.';
}

async function inStore({ config, baseDir }: LoadedConfig, isRunning: boolean): Promise<KeyClient> {
  const location = parseStoreUrl(config.store, baseDir);
  if (location.kind === 'memory') {
    throw new GatewayError(
      'unavailable',
      `The store is in memory, so that only the gateway itself has its keys. Start it, and name a key with the scope admin in ${KEY_VARIABLE}.`,
    );
  }
  const store = await openStore(config.store, { baseDir });
  const ring = await KeyRing.open({ keys: resolveKeys(config, baseDir), store: store.keys });
  const names = Object.keys(config.models);
  const keys = new KeyAdministration({
    ring,
    store: store.keys,
    hasModel: (pattern) => meets(pattern, names),
  });
  const by = OPERATOR.name;
  const place = location.kind === 'file' ? location.path : (await store.info()).location;
  return {
    place: isRunning ? `${place} (the gateway takes it within a second)` : place,
    list: () => keys.list(),
    create: (body) => keys.create(body, by),
    rotate: (which, body) => keys.rotate(which, body, by),
    revoke: (which) => keys.revoke(which, by),
    close: async () => {
      ring.close();
      await store.close();
    },
  };
}
