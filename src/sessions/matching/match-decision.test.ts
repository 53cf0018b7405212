import { describe, expect, it } from 'vitest';
import { decideMatch, type MatchDecision, type MatchFacts } from './match-decision.js';

/** A plain continuation. */
const PLAIN: MatchFacts = {
  position: 'head',
  foreign: false,
  turn: 'none',
  sameTurn: false,
  read: false,
  repeat: false,
  duplicate: false,
  continuesBrokenTurn: false,
  undelivered: false,
  answered: false,
  otherResults: false,
  open: 0,
  results: false,
  said: true,
};

const RULES: readonly [string, MatchDecision, Partial<MatchFacts>][] = [
  ['new words at the head', 'run', {}],
  ['nothing new at the head', 'run', { said: false }],
  ['words elsewhere', 'fork', { position: 'earlier' }],
  ['an answer that the session does not know', 'fork', { foreign: true }],
  ['an answer that the session does not know, while a turn runs', 'fork', { foreign: true, turn: 'running' }],
  ['the request of the running turn', 'join', { turn: 'running', sameTurn: true }],
  [
    'the request of the running turn of a fork',
    'join',
    { turn: 'running', sameTurn: true, position: 'earlier' },
  ],
  ['that request, while somebody reads', 'busy', { turn: 'running', sameTurn: true, read: true }],
  [
    'that request, marked as a repeat, while somebody reads',
    'join',
    { turn: 'running', sameTurn: true, read: true, repeat: true },
  ],
  [
    'the whole of that request a second time, while somebody reads',
    'fork',
    { turn: 'running', sameTurn: true, read: true, duplicate: true },
  ],
  [
    'the request of an answer that is just being given',
    'fork',
    { undelivered: true, read: true, position: 'earlier' },
  ],
  [
    'the same, marked as a repeat',
    'repeat',
    { undelivered: true, read: true, repeat: true, position: 'earlier' },
  ],
  ['the request of the broken turn', 'resume', { turn: 'broken', sameTurn: true }],
  ['another request, while a turn runs', 'busy', { turn: 'running' }],
  ['results, while a turn runs without them', 'busy', { turn: 'running', open: 0, results: true }],
  ['another request than the broken one', 'run', { turn: 'broken' }],
  [
    'a request that continues after the broken one',
    'continue-broken',
    { turn: 'broken', continuesBrokenTurn: true },
  ],
  [
    'with a part of its answer',
    'continue-broken',
    { turn: 'broken', continuesBrokenTurn: true, foreign: true },
  ],
  ['a request that continues after a running one', 'busy', { turn: 'running', continuesBrokenTurn: true }],
  ['all results', 'run', { results: true, said: false }],
  ['all results and words', 'run', { results: true }],
  ['some results', 'wait', { results: true, said: false, open: 2 }],
  ['some results and words', 'wait', { results: true, open: 2 }],
  ['words instead of results', 'run', { open: 2 }],
  ['nothing instead of results', 'wait', { open: 2, said: false }],
  ['other results than are recorded', 'fork', { results: true, otherResults: true, open: 1 }],
  ['the request of an answer that was not delivered', 'repeat', { undelivered: true }],
  ['that request, where calls wait', 'repeat', { undelivered: true, open: 2 }],
  ['that request, sent from the beginning', 'repeat', { undelivered: true, position: 'earlier' }],
  [
    'results that were answered',
    'repeat',
    { position: 'earlier', results: true, said: false, answered: true },
  ],
  ['results that were answered otherwise', 'fork', { position: 'earlier', results: true, said: false }],
];

describe('the match decision for a request', () => {
  it.each(RULES)('%s: %s', (_, decision, facts) => {
    expect(decideMatch({ ...PLAIN, ...facts })).toBe(decision);
  });
});
