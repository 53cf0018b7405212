import { describe, expect, it } from 'vitest';
import { type HistoryEvent, type HistoryPlan, violations } from './cluster-history.js';

const plan: HistoryPlan = {
  requests: new Map([
    ['t1 begin', { text: '', calls: ['t1_a'] }],
    ['t1 results', { text: 'final t1', calls: [] }],
  ]),
  results: new Map([['t1_a', { turn: 't1', text: 'found for t1_a' }]]),
  effects: new Map([['t1_x', { turn: 't1', told: 'did t1_x' }]]),
};

const RIGHT: readonly HistoryEvent[] = [
  { kind: 'stream', request: 't1 begin', end: 'cut' },
  { kind: 'decided', approval: 'ap_1', node: 'b' },
  { kind: 'effect', id: 't1_x' },
  { kind: 'stream', request: 't1 begin', end: 'whole' },
  { kind: 'answered', request: 't1 begin', text: '', calls: ['t1_a'] },
  {
    kind: 'told',
    turn: 't1',
    results: [
      { id: 't1_x', text: 'did t1_x\n' },
      { id: 't1_a', text: 'found for t1_a' },
    ],
  },
  { kind: 'stream', request: 't1 results', end: 'error' },
  { kind: 'answered', request: 't1 results', text: 'final t1', calls: [] },
];

const without = (kind: HistoryEvent['kind']) => RIGHT.filter((event) => event.kind !== kind);

it('finds nothing in a history that is right', () => {
  expect(violations(RIGHT, plan)).toEqual([]);
});

const CLIENTS_OWN = { id: 't1_a', text: 'found for t1_a' };
const EFFECTS_OWN = { id: 't1_x', text: 'did t1_x' };
const told = (...results: readonly { id: string; text: string }[]): HistoryEvent => {
  return { kind: 'told', turn: 't1', results };
};

describe('an effect of which nobody knows whether it happened', () => {
  const history = [
    ...without('effect').filter(({ kind }) => kind !== 'told'),
    told(CLIENTS_OWN, { id: 't1_x', text: 'it may have run' }),
  ];

  it('is right where a node was disturbed and the model is told so', () => {
    expect(violations([...history, { kind: 'disturbed', what: 'killed' }], plan)).toEqual([]);
  });

  it('is a lost result where all nodes were well', () => {
    expect(violations(history, plan)).toEqual(['the result of t1_x was lost: it may have run']);
  });
});

it.each<[string, readonly HistoryEvent[], string]>([
  ['an effect twice', [...RIGHT, { kind: 'effect', id: 't1_x' }], 'the effect t1_x happened 2 times'],
  ['an effect that was told and lost', without('effect'), 'the effect t1_x was told and did not happen'],
  ['an effect of nobody', [...RIGHT, { kind: 'effect', id: 'y' }], 'the effect y was asked for by nobody'],
  [
    'a result twice',
    [...RIGHT, told(EFFECTS_OWN, CLIENTS_OWN, CLIENTS_OWN)],
    'the result of t1_a came 2 times to t1',
  ],
  [
    'a result that was lost',
    [...RIGHT, told(EFFECTS_OWN, { id: 't1_a', text: 'no result' })],
    'the result of t1_a was lost: no result',
  ],
  [
    'a result of the client that the model never got',
    [...RIGHT, told(EFFECTS_OWN)],
    'the result of t1_a was lost: t1 went on without it',
  ],
  [
    'a result of the gateway that the model never got',
    [...RIGHT, told(CLIENTS_OWN)],
    'the result of t1_x was lost: t1 went on without it',
  ],
  ['a model that never got a result', without('told'), 'the results of t1 never came to the model'],
  [
    'a stream without an end',
    [...RIGHT, { kind: 'stream', request: 't1 results', end: 'none' }],
    'a stream of t1 results had no end',
  ],
  [
    'two answers that differ',
    [...RIGHT, { kind: 'answered', request: 't1 results', text: 'other', calls: [] }],
    't1 results was answered with ["other",[]]',
  ],
  [
    'a client that gave up',
    [...RIGHT, { kind: 'gave-up', request: 't1 results', last: '503' }],
    't1 results was given up: 503',
  ],
  [
    'a decision twice',
    [...RIGHT, { kind: 'decided', approval: 'ap_1', node: 'a' }],
    'the approval ap_1 was decided 2 times',
  ],
])('finds %s', (_what, history, violation) => {
  expect(violations(history, plan)).toEqual([violation]);
});

it('finds a request that was never answered', () => {
  expect(violations(without('answered'), plan)).toEqual([
    't1 begin was never answered',
    't1 results was never answered',
  ]);
});
