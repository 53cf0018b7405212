import { expect, it } from 'vitest';
import type { ReviewOutcome } from '../../../tools/runtime/review.js';
import { ToolCallEvents } from './tool-call-events.js';

const CALL = { wireId: 'wire', id: 'own', name: 'Read' };
const DESCRIBE = { title: 'Read a', kind: 'read', paths: [] } as const;
const said = (isError = false) => ({
  ...({ type: 'tool_result', toolUseId: 'wire', isError } as const),
  content: [{ type: 'text' as const, text: 'x' }],
});
const reviewed = (verdict: ReviewOutcome['verdict']): ReviewOutcome => ({
  ...{ verdict, name: 'Read', readOnly: true, describe: DESCRIBE, changed: false },
});

it('a call that ran took the time from its start, and says why it was let through', () => {
  let now = 100;
  const events = new ToolCallEvents(() => now);
  const because = { kind: 'mode', mode: 'allow' } as const;
  const started = events.start(CALL, reviewed({ allowed: true, input: {}, because }));
  expect(started).toEqual({ type: 'tool-start', id: 'own', name: 'Read', describe: DESCRIBE, because });
  now = 350;
  expect(events.end(said())).toMatchObject({
    event: { id: 'own', durationMs: 250, outcome: 'done', because, describe: DESCRIBE },
  });
  expect(events.end(said())).toBeUndefined();
});

it.each([
  ['denied', 'denied'],
  ['expired', 'expired'],
  ['cancelled', 'aborted'],
  ['unattended', 'unattended'],
] as const)('a call that was %s is told as %s', (outcome, told) => {
  const events = new ToolCallEvents();
  const verdict = { allowed: false, outcome, message: 'no', because: { kind: 'expiry' } } as const;
  events.refuse({ ...CALL, agentId: 'a' }, verdict, reviewed(verdict));
  expect(events.end(said(true))).toMatchObject({
    agentId: 'a',
    event: { outcome: told, durationMs: 0, isError: true, because: { kind: 'expiry' } },
  });
});
