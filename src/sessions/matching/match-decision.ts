/**
 * What is to be done with a request, from what is known about it and about the session that it was
 * found to belong to. No side effects: every rule of attaching is a line here.
 */

export interface MatchFacts {
  /** Where in the session the request's history ends. A request that sends only what is new ends at the head. */
  place: 'head' | 'earlier';
  /** Behind that place an assistant says something that the session does not know. */
  foreign: boolean;
  /** One that runs in this process, or one that began and did not come to its end. */
  turn: 'none' | 'running' | 'broken';
  /** The request is the turn's, word for word or in another split of the same results. */
  sameTurn: boolean;
  /** Somebody waits for that turn's answer, or is just being given it. */
  read: boolean;
  /** The request is equal to the turn's in everything, and says that it is a repeat. */
  repeat: boolean;
  /** It is the whole of the turn's request, found by its history: a second answer may be wanted. */
  twin: boolean;
  /** The request has what the broken turn was asked, and goes on behind it. */
  goesOnBehindTurn: boolean;
  /** The request is that of the last answer, and its client may not have heard the end of it. */
  undelivered: boolean;
  /** The calls at that place were answered by these very results, and the answer is known. */
  answered: boolean;
  /** For calls at that place the request has other results than are recorded. */
  otherResults: boolean;
  /** Calls at that place that have no result, those of the request counted in. */
  open: number;
  /** The request has results for calls at that place. */
  results: boolean;
  /** The user says something beside results. */
  said: boolean;
}

export type MatchDecision =
  /** The request waits for the running turn's answer. */
  | 'join'
  /** The broken turn goes on where it broke off. */
  | 'resume'
  /** The broken turn's work is kept, and the conversation goes on behind it. */
  | 'go-on-behind'
  /** The recorded answer is given. */
  | 'repeat'
  /** A session of its own from that place. */
  | 'fork'
  | 'busy'
  /** Results are recorded, and the calls that are open are named again. */
  | 'wait'
  /** A turn begins; calls that are still open get no result. */
  | 'run';

export function decideMatch(facts: MatchFacts): MatchDecision {
  const { place, turn } = facts;
  const mayShare = !facts.read || facts.repeat;
  if (facts.sameTurn && turn === 'running') {
    // Results are used once, and who names a session speaks into that one.
    return mayShare ? 'join' : facts.twin ? 'fork' : 'busy';
  }
  if (facts.sameTurn && turn === 'broken') return 'resume';
  if (facts.undelivered && mayShare) return 'repeat';
  if (place === 'earlier') return facts.answered ? 'repeat' : 'fork';
  if (turn === 'broken' && facts.goesOnBehindTurn) return 'go-on-behind';
  if (facts.foreign || facts.otherResults) return 'fork';
  if (turn === 'running') return 'busy';
  if (facts.open === 0) return 'run';
  // Results come with or without words; words alone are somebody who goes on without the results.
  return facts.results || !facts.said ? 'wait' : 'run';
}
