import type { LearnedQuirk } from '../store.js';
import { json, number, type Row, text } from './rows.js';

export function readQuirk(row: Row): LearnedQuirk {
  return {
    upstream: text(row, 'upstream'),
    model: text(row, 'model'),
    key: text(row, 'key'),
    value: json<unknown>(row, 'value'),
    evidence: text(row, 'evidence'),
    learnedAt: number(row, 'learned_at'),
  };
}
