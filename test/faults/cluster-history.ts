/** What happened in a cluster, and whether any of it may not have. */

export type HistoryEvent =
  /** A client is done with a request of a turn: its words and the tool calls that it got. */
  | { kind: 'answered'; request: string; text: string; calls: readonly string[] }
  /** An answer that began: `none` ended as if it were whole, and was not. */
  | { kind: 'stream'; request: string; end: 'whole' | 'error' | 'cut' | 'none' }
  /** A client has tried as often as it may. */
  | { kind: 'gave-up'; request: string; last: string }
  /** A person's decision was taken. */
  | { kind: 'decided'; approval: string; node: string }
  /** A node was killed, or lost what it needs to go on: what it was doing then may stay unknown. */
  | { kind: 'disturbed'; what: string }
  /** Something was done in the folder of the agent. */
  | { kind: 'effect'; id: string }
  /** The model was asked with these results. */
  | { kind: 'told'; turn: string; results: readonly { id: string; text: string }[] };

/** What was to happen. */
export interface HistoryPlan {
  /** Requests with what they are answered with. */
  requests: ReadonlyMap<string, { text: string; calls: readonly string[] }>;
  /** What the client gave for each of its tool calls. */
  results: ReadonlyMap<string, { turn: string; text: string }>;
  /** Effects by turn: what the model is told of one that was done. */
  effects: ReadonlyMap<string, { turn: string; told: string }>;
}

/** Everything that may not have happened; empty for a history that is right. */
export function violations(history: readonly HistoryEvent[], plan: HistoryPlan): string[] {
  return [
    ...wrongAnswers(history, plan),
    ...wrongStreams(history),
    ...wrongEffects(history, plan),
    ...wrongResults(history, plan),
    ...decidedTwice(history),
  ];
}

function ofKind<Kind extends HistoryEvent['kind']>(history: readonly HistoryEvent[], kind: Kind) {
  return history.filter((event): event is Extract<HistoryEvent, { kind: Kind }> => event.kind === kind);
}

function wrongAnswers(history: readonly HistoryEvent[], { requests }: HistoryPlan): string[] {
  const answered = ofKind(history, 'answered');
  const found = ofKind(history, 'gave-up').map(({ request, last }) => `${request} was given up: ${last}`);
  for (const [request, { text, calls }] of requests) {
    const given = answered.filter((each) => each.request === request);
    if (given.length === 0) found.push(`${request} was never answered`);
    for (const each of given) {
      if (each.text === text && same(each.calls, calls)) continue;
      found.push(`${request} was answered with ${JSON.stringify([each.text, each.calls])}`);
    }
  }
  return found;
}

const wrongStreams = (history: readonly HistoryEvent[]): string[] =>
  ofKind(history, 'stream').flatMap(({ request, end }) =>
    end === 'none' ? [`a stream of ${request} had no end`] : [],
  );

function wrongEffects(history: readonly HistoryEvent[], { effects }: HistoryPlan): string[] {
  const done = counted(ofKind(history, 'effect').map(({ id }) => id));
  const told = ofKind(history, 'told');
  const found = [...done].flatMap(([id, times]) => {
    if (!effects.has(id)) return [`the effect ${id} was asked for by nobody`];
    return times > 1 ? [`the effect ${id} happened ${times} times`] : [];
  });
  for (const [id, effect] of effects) {
    const isTold = told.some(({ results }) =>
      results.some((each) => each.id === id && each.text.includes(effect.told)),
    );
    if (isTold && !done.has(id)) found.push(`the effect ${id} was told and did not happen`);
  }
  return found;
}

/**
 * Whatever the model is asked with has every result of its turn once: the client's as the client gave it, that of
 * an effect as it was, unless a node was disturbed. A turn whose requests are all answered has told the model.
 */
function wrongResults(history: readonly HistoryEvent[], plan: HistoryPlan): string[] {
  const found: string[] = [];
  const told = ofKind(history, 'told');
  const isDisturbed = ofKind(history, 'disturbed').length > 0;
  const expected = new Map<string, { id: string; isWhole(text: string): boolean }[]>();
  const expect = (turn: string, id: string, isWhole: (text: string) => boolean) =>
    expected.set(turn, [...(expected.get(turn) ?? []), { id, isWhole }]);
  for (const [id, { turn, text }] of plan.results) expect(turn, id, (given) => given === text);
  for (const [id, effect] of plan.effects)
    expect(effect.turn, id, (given) => isDisturbed || given.includes(effect.told));
  for (const { turn, results } of told) {
    for (const [id, times] of counted(results.map((each) => each.id)))
      if (times > 1) found.push(`the result of ${id} came ${times} times to ${turn}`);
    for (const { id, isWhole } of expected.get(turn) ?? []) {
      const given = results.filter((each) => each.id === id);
      if (given.length === 0) found.push(`the result of ${id} was lost: ${turn} went on without it`);
      for (const { text } of given) if (!isWhole(text)) found.push(`the result of ${id} was lost: ${text}`);
    }
  }
  const heard = new Set(told.map(({ turn }) => turn));
  for (const turn of expected.keys())
    if (!heard.has(turn)) found.push(`the results of ${turn} never came to the model`);
  return found;
}

const decidedTwice = (history: readonly HistoryEvent[]): string[] =>
  [...counted(ofKind(history, 'decided').map(({ approval }) => approval))].flatMap(([approval, times]) =>
    times > 1 ? [`the approval ${approval} was decided ${times} times`] : [],
  );

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const same = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((each, index) => each === right[index]);
