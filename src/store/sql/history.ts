import type { HistoryMatch } from '../sessions.js';
import { number, type Row, text } from './rows.js';

/** Clients mostly echo all they know, so the match is mostly in the first probe from the end. */
export const PROBE = 32;

export function readMatch(row: Row): HistoryMatch {
  return {
    hash: text(row, 'hash'),
    session: text(row, 'session'),
    position: number(row, 'position'),
    head: number(row, 'head') === 1,
  };
}
