/** What the states of a card look like, and which cards are open by themselves. */
import type { CardState } from '../data/reducer/view.js';
import type { Tone } from '../ui/badge.js';

interface StateLook {
  tone: Tone;
  /** The edge of the card. */
  edge: string;
  /** Open until the person says otherwise. */
  open: boolean;
}

export const STATE_LOOK: Readonly<Record<CardState, StateLook>> = {
  pending: { tone: 'warn', edge: 'border-l-warn', open: true },
  waiting: { tone: 'warn', edge: 'border-l-warn', open: true },
  running: { tone: 'info', edge: 'border-l-info', open: true },
  success: { tone: 'plain', edge: 'border-l-line', open: false },
  error: { tone: 'danger', edge: 'border-l-danger', open: true },
  denied: { tone: 'danger', edge: 'border-l-danger', open: true },
  expired: { tone: 'warn', edge: 'border-l-warn', open: true },
  cancelled: { tone: 'plain', edge: 'border-l-line', open: false },
  'handed-back': { tone: 'info', edge: 'border-l-info', open: false },
  unknown: { tone: 'warn', edge: 'border-l-warn', open: true },
};
