/** What broken requests are made of. */
import type { JsonObject } from '../../src/core/conversation.js';
import { requestBytes } from '../support/raw-http.js';
import type { Bytes } from '../support/replies.js';
import type { Random } from './random.js';
import { VALID_BODIES } from './valid-bodies.js';
import type { Wire } from './wires.js';

export interface Target {
  url: string;
  wire: Wire;
  /** A path of the dialect. */
  path: string;
  model: string;
}

/** What goes over the wire. */
export interface Sent {
  /** Each a write of its own. */
  pieces: readonly Bytes[];
  /** The client closes its side then. */
  ends?: boolean;
}

/** A body, and headers that stand in for those of a JSON request. */
export interface SentBody {
  body: Bytes;
  headers?: Readonly<Record<string, string>>;
}

/** Makes one request of its kind; what is random in it is drawn from `random`. */
export type Maker<T> = (target: Target, random: Random) => T;
export type Makers<T> = Readonly<Record<string, Maker<T>>>;

export const JSON_HEADERS = { 'content-type': 'application/json' };

export const bodyOf = ({ wire, model }: Target): JsonObject => ({ ...VALID_BODIES[wire.name], model });
export const textOf = (target: Target): string => JSON.stringify(bodyOf(target));

export function post({ url, path }: Target, { body, headers = JSON_HEADERS }: SentBody): Buffer {
  return requestBytes(url, { method: 'POST', path, headers, body });
}

export const valid = (target: Target): Buffer => post(target, { body: textOf(target) });
