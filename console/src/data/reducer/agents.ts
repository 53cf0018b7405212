/** Sub-agents: each under the card of the call that started it, however deep that is. */
import type { AgentRef } from '../../../../src/activity/wire.js';
import { newCard } from './cards.js';
import type { TurnView } from './console-state.js';
import { addCard, type Level, replaced } from './parts.js';
import type { CardState, SubAgentView, ToolCard } from './view.js';

/** A sub-agent whose call was in no event. */
const AGENT_TOOL = 'Task';

export function inAgent(level: Level, agent: AgentRef, change: (view: SubAgentView) => SubAgentView): Level {
  const known = inKnownAgent(level, agent.id, change);
  if (known !== undefined) return known;
  const { id, label, parent } = agent;
  const started = changeDeep(
    level,
    (card) => card.id === parent,
    // Another agent of the same call continues where the first stopped.
    (card) => ({ ...card, agent: change({ id, label, parts: card.agent?.parts ?? [], ended: undefined }) }),
  );
  if (started !== undefined) return started;
  const view = change({ id, label, parts: [], ended: undefined });
  return addCard(level, { ...newCard(parent, AGENT_TOOL), state: 'running', agent: view });
}

/** Undefined where there is no such agent. */
export function inKnownAgent(
  level: Level,
  id: string,
  change: (view: SubAgentView) => SubAgentView,
): Level | undefined {
  return changeDeep(
    level,
    (card) => card.agent?.id === id,
    (card) => {
      if (card.agent === undefined) return card;
      const agent = change(card.agent);
      return agent === card.agent ? card : { ...card, agent };
    },
  );
}

export function withParts(view: SubAgentView, parts: Level): SubAgentView {
  return parts === view.parts ? view : { ...view, parts };
}

/** Cards that are still in one of these states get the other, on every level. */
export function settle(level: Level, states: Partial<Record<CardState, CardState>>): Level {
  return mapCards(level, (card) => {
    const state = states[card.state] ?? card.state;
    return state === card.state ? card : { ...card, state };
  });
}

/** Approvals that are no longer pending: their calls continue. */
export function withoutDecided(turn: TurnView, waiting: ReadonlySet<string>): TurnView {
  const parts = mapCards(turn.parts, (card) => {
    if (card.state !== 'waiting' || card.approval === undefined || waiting.has(card.approval)) return card;
    return { ...card, state: card.startedAt === undefined ? 'pending' : 'running' };
  });
  return parts === turn.parts ? turn : { ...turn, parts };
}

/** On every level; the same row where every card stays the same. */
function mapCards(level: Level, change: (card: ToolCard) => ToolCard): Level {
  let changed = false;
  const next = level.map((part) => {
    if (part.kind !== 'tool') return part;
    const { agent } = part.card;
    const below = agent && withParts(agent, mapCards(agent.parts, change));
    const card = change(below === agent ? part.card : { ...part.card, agent: below });
    if (card === part.card) return part;
    changed = true;
    return { ...part, card };
  });
  return changed ? next : level;
}

/** The newest card that matches, on any level; undefined where none does. */
function changeDeep(
  level: Level,
  matches: (card: ToolCard) => boolean,
  change: (card: ToolCard) => ToolCard,
): Level | undefined {
  for (let at = level.length - 1; at >= 0; at--) {
    const part = level[at];
    if (part?.kind !== 'tool') continue;
    const card = matches(part.card) ? change(part.card) : changeBelow(part.card, matches, change);
    if (card === undefined) continue;
    return card === part.card ? level : replaced(level, at, { ...part, card });
  }
  return undefined;
}

function changeBelow(
  card: ToolCard,
  matches: (card: ToolCard) => boolean,
  change: (card: ToolCard) => ToolCard,
): ToolCard | undefined {
  if (card.agent === undefined) return undefined;
  const parts = changeDeep(card.agent.parts, matches, change);
  if (parts === undefined) return undefined;
  return parts === card.agent.parts ? card : { ...card, agent: { ...card.agent, parts } };
}
