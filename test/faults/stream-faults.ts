/** What can go wrong with an upstream's stream, from events in the wrong order down to single bits. */

import { anthropicError, type Wire } from '../support/wire.js';
import { openaiError } from '../support/wire-chat.js';
import { nodeAt, nodePaths, withNode, withoutNode } from './json-nodes.js';
import type { Random } from './random.js';

/** An event with its JSON, or text that goes on the wire as it is. */
export type Frame = Wire | string;

/** Fields that say where something belongs. */
const PLACES = /^(?:index|output_index|content_index|summary_index|sequence_number|id|call_id|item_id)$/;

/** No event at all, events of other wires, and events that are cut off. */
const GARBAGE: readonly string[] = [
  'data: {"half":\n\n',
  'data: nonsense\n\n',
  'data: null\n\n',
  'data: 17\n\n',
  'data: []\n\n',
  'data: {}\n\n',
  'data: "text"\n\n',
  'data:\n\n',
  'data: [DONE]\n\n',
  'event: error\ndata: it failed\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: unheard_of\ndata: {"type":"unheard_of"}\n\n',
  'data: {"choices":[]}\n\n',
  'data: {"choices":[{"delta":null,"finish_reason":"stop"}]}\n\n',
  ': comment\n\n',
  'retry: 5\nid: 7\n\n',
  '\n\n\n',
  '<html><body>502 Bad Gateway</body></html>\n',
];

const ERRORS: readonly Wire[] = [
  openaiError('It broke.', { type: 'server_error' }),
  { error: 'It broke.' },
  { error: { message: null, code: 500 } },
  { error: {} },
  anthropicError('overloaded_error', 'It is busy.'),
  { type: 'error', error: null },
  { type: 'error' },
  { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null },
];

function wrong(random: Random): unknown {
  const kinds: readonly unknown[] = [
    null,
    true,
    false,
    -1,
    0,
    1.5,
    7,
    1e308,
    '',
    'x',
    '0',
    '{"a":1}',
    'null',
    [],
    [null],
    {},
    { type: 'text' },
    { type: 'tool_use', id: 'call_x', name: 'search', input: {} },
    random.text(0, 5),
  ];
  return random.pick(kinds);
}

type Mutation = (frames: readonly Frame[], random: Random, other: () => readonly Frame[]) => Frame[];

/** `change` on one event of the list. */
const onEvent =
  (change: (event: Wire, random: Random) => unknown): Mutation =>
  (frames, random) => {
    const at = random.below(frames.length);
    return frames.map((frame, index) => {
      if (index !== at || typeof frame === 'string') return frame;
      const value = change(frame, random);
      return typeof value === 'object' && value !== null
        ? { ...value }
        : `data: ${JSON.stringify(value)}\n\n`;
    });
  };

const insert = (frames: readonly Frame[], at: number, ...added: readonly Frame[]): Frame[] => [
  ...frames.slice(0, at),
  ...added,
  ...frames.slice(at),
];

function merged(a: readonly Frame[], b: readonly Frame[], random: Random): Frame[] {
  const left = [...a];
  const right = [...b];
  const out: Frame[] = [];
  while (left.length + right.length > 0) {
    const next = (random.chance(0.5) ? left.shift() : right.shift()) ?? left.shift() ?? right.shift();
    if (next !== undefined) out.push(next);
  }
  return out;
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  dropped: (frames, random) => frames.filter(() => random.chance(0.85)),
  repeated: (frames, random) => frames.flatMap((frame) => (random.chance(0.15) ? [frame, frame] : [frame])),
  late: (frames, random) => {
    const from = random.below(frames.length);
    const rest = frames.filter((_, index) => index !== from);
    return insert(rest, random.below(rest.length + 1), ...frames.slice(from, from + 1));
  },
  shuffled: (frames, random) => random.shuffled(frames),
  windowShuffled: (frames, random) => {
    const from = random.below(frames.length);
    const to = from + random.between(2, 6);
    return [...frames.slice(0, from), ...random.shuffled(frames.slice(from, to)), ...frames.slice(to)];
  },
  truncated: (frames, random) => frames.slice(0, random.below(frames.length)),
  merged: (frames, random, other) => merged(frames, other(), random),
  followed: (frames, _random, other) => [...frames, ...other()],
  misplaced: onEvent((event, random) => {
    const places = nodePaths(event).filter((path) => PLACES.test(String(path.at(-1))));
    if (places.length === 0) return event;
    const path = random.pick(places);
    return random.chance(0.2)
      ? withoutNode(event, path)
      : withNode(event, path, random.chance(0.5) ? random.below(6) : wrong(random));
  }),
  retyped: onEvent((event, random) => withNode(event, random.pick(nodePaths(event)), wrong(random))),
  unset: onEvent((event, random) => withoutNode(event, random.pick(nodePaths(event)))),
  swapped: onEvent((event, random) => {
    const paths = nodePaths(event);
    return withNode(event, random.pick(paths), nodeAt(event, random.pick(paths)));
  }),
  garbage: (frames, random) => insert(frames, random.below(frames.length + 1), random.pick(GARBAGE)),
  failed: (frames, random) => insert(frames, random.below(frames.length + 1), random.pick(ERRORS)),
};

const NAMES = Object.keys(MUTATIONS);

/** One to four faults, in the order in which they were made. */
export function breakFrames(
  frames: readonly Frame[],
  random: Random,
  other: () => readonly Frame[],
): { frames: Frame[]; faults: string[] } {
  const faults = random.list(1, 4, () => random.pick(NAMES));
  let broken = [...frames];
  for (const fault of faults) {
    if (broken.length > 0) broken = MUTATIONS[fault]?.(broken, random, other) ?? broken;
  }
  return { frames: broken, faults };
}

/** Damage that knows nothing of events. */
export function breakBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), random.bytes(random.between(1, 8)), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.between(1, 40))]);
    default: {
      const copy = Buffer.from(bytes);
      for (let flips = random.between(1, 4); flips > 0 && copy.length > 0; flips--) {
        const place = random.below(copy.length);
        copy[place] = (copy[place] ?? 0) ^ (1 << random.below(8));
      }
      return copy;
    }
  }
}

/** The forms that the standard gives an event stream; all of them mean the same. */
export function framed(frames: readonly Frame[], random: Random): Buffer {
  const lineEnd = random.pick(['\n', '\n', '\n', '\r\n', '\r']);
  const space = random.pick([' ', ' ', '']);
  const named = (type: unknown): string => (typeof type === 'string' ? `event:${space}${type}\n` : '');
  const texts = frames.map((frame) => {
    if (typeof frame === 'string') return frame;
    const comment = random.chance(0.05) ? ': keep-alive\n' : '';
    return `${comment}${named(frame['type'])}data:${space}${JSON.stringify(frame)}\n\n`;
  });
  const text = (random.chance(0.05) ? '\ufeff' : '') + texts.join('');
  return Buffer.from(lineEnd === '\n' ? text : text.replaceAll('\n', lineEnd));
}
