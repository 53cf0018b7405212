import type { ToolCard } from '../data/view.js';

/** A call in the flow of a conversation, with its question where one waits. */
export function ToolCardView({ card }: { card: ToolCard; session: string }) {
  return <div>{card.name}</div>;
}
