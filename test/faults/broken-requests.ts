/** Requests that are wrong, from the first byte of the head to the last field of the body. */
import { BAD_BODIES, ODD_BODIES } from './broken-bodies.js';
import { BAD_HEADS, BAD_MESSAGES } from './broken-heads.js';
import { nodePaths, shown, withNode } from './json-nodes.js';
import type { Random } from './random.js';
import {
  bodyOf,
  type Maker,
  type Makers,
  post,
  type Sent,
  type SentBody,
  type Target,
} from './request-parts.js';

export interface BrokenRequest extends Sent {
  what: string;
  /** `wrong`: a 4xx and nothing else. `odd`: a good answer is as right. */
  is: 'wrong' | 'odd';
  /** Whose errors it gets; `none` where the head does not say. */
  shape: 'dialect' | 'none';
}

const asRequest =
  (make: Maker<SentBody>): Maker<Sent> =>
  (target, random) => ({ pieces: [post(target, make(target, random))] });

type Kind = (target: Target, random: Random) => BrokenRequest;

const kindsOf = (makers: Makers<Sent>, verdict: Pick<BrokenRequest, 'is' | 'shape'>): Kind[] =>
  Object.entries(makers).map(
    ([what, make]): Kind =>
      (target, random) => ({ what, ...verdict, ...make(target, random) }),
  );

const onBodies = (makers: Makers<SentBody>): Makers<Sent> =>
  Object.fromEntries(Object.entries(makers).map(([what, make]) => [what, asRequest(make)]));

const KINDS_LIST: readonly Kind[] = [
  ...kindsOf(BAD_HEADS, { is: 'wrong', shape: 'none' }),
  ...kindsOf(BAD_MESSAGES, { is: 'wrong', shape: 'dialect' }),
  ...kindsOf(onBodies(BAD_BODIES), { is: 'wrong', shape: 'dialect' }),
  ...kindsOf(onBodies(ODD_BODIES), { is: 'odd', shape: 'dialect' }),
];

export const KINDS = KINDS_LIST.length;

/** One of each kind in turn. */
export function brokenRequest(target: Target, random: Random, index: number): BrokenRequest {
  const make = KINDS_LIST[index % KINDS];
  if (make === undefined) throw new Error('There are no kinds');
  return make(target, random);
}

const WRONG_TYPES: readonly unknown[] = [null, 7, -1.5, 'text', '', [], {}, [null], [{}], true, false];

/** The valid body with each value in turn replaced by one of every other type; made when it is its turn. */
export function mistyped(target: Target): (() => BrokenRequest)[] {
  const body = bodyOf(target);
  const request = (what: string, value: unknown): BrokenRequest => ({
    what,
    is: 'odd',
    shape: 'dialect',
    pieces: [post(target, { body: JSON.stringify(value) })],
  });
  return nodePaths(body).flatMap((path) =>
    WRONG_TYPES.map(
      (value) => () => request(`${shown(path)} = ${JSON.stringify(value)}`, withNode(body, path, value)),
    ),
  );
}
