/**
 * What happens to a request, decided from facts about it and about the session that it was matched
 * with. No side effects: every rule of matching is a line here. `gather-facts.ts` has each fact.
 */

export interface MatchFacts {
  /** Where in the session the request's history ends. A request that sends only new messages ends at the head. */
  position: 'head' | 'earlier';
  /** After that position the request has assistant messages that the session does not know. */
  foreign: boolean;
  /** `running`: in this process. `broken`: it began and did not end. */
  turn: 'none' | 'running' | 'broken';
  /** The request is the turn's, word for word or in another split of the same results. */
  sameTurn: boolean;
  /** A client waits for that turn's answer, or is receiving it. */
  read: boolean;
  /** The request equals the turn's in everything, and its client declares it a repeat. */
  repeat: boolean;
  /** It is the whole of the turn's request, matched by its history: its client may want a second answer. */
  duplicate: boolean;
  /** The request contains the broken turn's request and continues after it. */
  continuesBrokenTurn: boolean;
  /** The request is that of the last answer, whose delivery is not confirmed. */
  undelivered: boolean;
  /** The calls at that position were answered by these very results, and the answer is stored. */
  answered: boolean;
  /** For calls at that position the request has other results than are recorded. */
  otherResults: boolean;
  /** Calls at that position without a result, after those of the request. */
  open: number;
  /** The request has results for calls at that position. */
  results: boolean;
  /** The user says something beside results. */
  said: boolean;
}

export type MatchDecision =
  /** The request waits for the running turn's answer. */
  | 'join'
  /** The broken turn resumes at its last step. */
  | 'resume'
  /** The broken turn's work is kept, and the conversation continues after it. */
  | 'continue-broken'
  /** The stored answer is repeated. */
  | 'repeat'
  /** A new session begins with the history up to that position. */
  | 'fork'
  | 'busy'
  /** Results are recorded, and the answer names the open calls again. */
  | 'wait'
  /** A turn begins; calls that are still open get no result. */
  | 'run';

export function decideMatch(facts: MatchFacts): MatchDecision {
  const { position, turn } = facts;
  const mayShare = !facts.read || facts.repeat;
  if (facts.sameTurn && turn === 'running') {
    // Results are used once, and a request that names a session means that one: neither is forked.
    return mayShare ? 'join' : facts.duplicate ? 'fork' : 'busy';
  }
  if (facts.sameTurn && turn === 'broken') return 'resume';
  if (facts.undelivered && mayShare) return 'repeat';
  if (position === 'earlier') return facts.answered ? 'repeat' : 'fork';
  if (turn === 'broken' && facts.continuesBrokenTurn) return 'continue-broken';
  if (facts.foreign || facts.otherResults) return 'fork';
  if (turn === 'running') return 'busy';
  if (facts.open === 0) return 'run';
  // Results come with or without words; with words alone the user continues without the results.
  return facts.results || !facts.said ? 'wait' : 'run';
}
