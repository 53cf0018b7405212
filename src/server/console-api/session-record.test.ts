import { describe, expect, it } from 'vitest';
import type { ActivityRecord, RecordedChunk } from '../../activity/wire.js';
import { recordsToWire } from './session-record.js';

const result = (id: string, duration_ms: number): RecordedChunk => ({
  ...{ type: 'tool_result', tool_use_id: id, name: 'Bash', outcome: 'done', is_error: false },
  ...{ duration_ms, content: [], truncated: false, because: null, agent: null, at: 'now' },
});
const piece = (id: string, chunks: RecordedChunk[], more: Partial<ActivityRecord> = {}): ActivityRecord => ({
  ...{ id, began_at: 'now', model: 'm', chunks },
  ...more,
});
const durations = (chunks: readonly RecordedChunk[]) =>
  chunks.map((chunk) => (chunk.type === 'tool_result' ? chunk.duration_ms : chunk.type));

describe('recordsToWire', () => {
  it('puts the pieces of a turn together, and says how it ended', () => {
    const ended = { end: 'complete', stop_reason: 'end_turn', error: null } as const;
    const shown = [piece('r1', [result('c1', 1)]), piece('r1', [result('c2', 2)], { ended })];
    const [turn, ...others] = recordsToWire(
      shown.map((each) => ({ turn: 3, shown: each })),
      new Set([3]),
    );
    expect(others).toEqual([]);
    expect(turn).toMatchObject({ turn: 3, id: 'r1', ended });
    expect(durations(turn?.chunks ?? [])).toEqual([1, 2]);
  });

  it('takes what a stopped turn kept last in place of its pieces', () => {
    const shown = [
      piece('r1', [result('c1', 1)]),
      piece('r1', [result('c1', 1), result('c2', 2)], { whole: true }),
    ];
    const [turn] = recordsToWire(
      shown.map((each) => ({ turn: 0, shown: each })),
      new Set([0]),
    );
    expect(durations(turn?.chunks ?? [])).toEqual([1, 2]);
  });

  it('leaves calls as they were when a turn is resumed, which shows them again', () => {
    const shown = [
      piece('r1', [result('c1', 1)]),
      piece('r2', [result('c1', 0), result('c2', 2)], { whole: true }),
    ];
    const [turn] = recordsToWire(
      shown.map((each) => ({ turn: 0, shown: each })),
      new Set([0]),
    );
    expect(durations(turn?.chunks ?? [])).toEqual([1, 2]);
  });

  it('has the turns that were asked for, the newest within the bound, and nothing that is no record', () => {
    const shown = [
      { turn: 0, shown: piece('r1', [result('c1', 1)]) },
      { turn: 1, shown: piece('r2', [result('c2', 2)]) },
      { turn: 2, shown: piece('r3', [result('c3', 3)]) },
      { turn: 2, shown: 'damaged' },
    ];
    const of = (turns: number[], chars?: number) =>
      recordsToWire(shown, new Set(turns), chars).map(({ turn }) => turn);
    expect(of([0, 2])).toEqual([0, 2]);
    expect(of([0, 1, 2], 400)).toEqual([2]);
  });
});
