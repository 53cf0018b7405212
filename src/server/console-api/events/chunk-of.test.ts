import { describe, expect, it } from 'vitest';
import type { ToolRunResult } from '../../../tools/runtime/runtime.js';
import { chunkOf } from './chunk-of.js';
import { EVENT_LIMITS } from './limits.js';

const RESULT: ToolRunResult = {
  type: 'tool-result',
  id: 'c',
  name: 'Bash',
  content: [{ type: 'text', text: 'red' }],
  isError: false,
  data: { output: 'for nobody here' },
  durationMs: 1,
  outcome: 'done',
};

const told = (event: ToolRunResult) =>
  chunkOf({ type: 'tool', session: 's', event }, { turn: 't', at: '' }, EVENT_LIMITS);

describe('the event chunk of a tool result', () => {
  it('has its terminal codes beside the text that is kept', () => {
    expect(told({ ...RESULT, shown: '\u001b[31mred' })).toMatchObject({
      content: [{ type: 'text', text: 'red' }],
      shown: '\u001b[31mred',
    });
  });

  it('has no terminal codes where there are none, or too many', () => {
    expect(told(RESULT)).not.toHaveProperty('shown');
    const long = { ...RESULT, shown: 'x'.repeat(EVENT_LIMITS.resultChars + 1) };
    expect(told(long)).not.toHaveProperty('shown');
  });
});
