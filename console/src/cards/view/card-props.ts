import type { ToolCard } from '../../data/reducer/view.js';

export interface CardProps {
  card: ToolCard;
  session: string;
  /** The sub-agent that made the call; none for the main one. */
  agent?: { id: string; label: string } | undefined;
}
