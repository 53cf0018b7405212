import { expect, it } from 'vitest';
import { isError, matches } from './trace-filters.js';
import type { TraceWire } from './trace-types.js';

const trace = (status: number, code?: string): TraceWire => ({
  ...{ id: 'r', key: 'local', at: '2026-01-01T00:00:00.000Z', model: 'm', upstream: null, status },
  ...{ duration_ms: 1, losses: [], repairs: [], payload_size: 0 },
  summary: { error: code === undefined ? null : { code, message: 'It ended.' } },
});

it('takes what a person stopped or a client left for no error', () => {
  const filter = { model: '', status: undefined, errors: true, session: '' };
  expect(isError(trace(499, 'client_closed'))).toBe(false);
  expect(matches(trace(499, 'client_closed'), filter)).toBe(false);
  expect([isError(trace(500)), isError(trace(404)), isError(trace(200))]).toEqual([true, true, false]);
  expect(isError(trace(200, 'upstream_failed'))).toBe(true);
});
