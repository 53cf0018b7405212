import { describe, expect, it } from 'vitest';
import type { VerdictReason } from '../permissions/gate.js';
import type { ToolRunEvent, ToolRunResult } from '../tools/runtime/runtime.js';
import {
  type ActivityLimits,
  boundInput,
  COMMENT_LIMITS,
  EVENT_ACTIVITY_LIMITS,
  encodeActivity,
  encodeMessage,
} from './encode.js';

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

const text = (said: string) => ({ type: 'text', text: said }) as const;
const encode = (event: ToolRunEvent, limits: Partial<ActivityLimits> = {}) =>
  encodeActivity({ type: 'tool', session: 's', event }, { ...EVENT_ACTIVITY_LIMITS, ...limits });

describe('an encoded tool result', () => {
  it('has its terminal codes beside the text that is kept', () => {
    expect(encode({ ...RESULT, shown: '\u001b[31mred' })).toMatchObject({
      content: [text('red')],
      shown: '\u001b[31mred',
    });
  });

  it('has no terminal codes where there are none, or too many', () => {
    expect(encode(RESULT)).not.toHaveProperty('shown');
    const long = { ...RESULT, shown: 'x'.repeat(EVENT_ACTIVITY_LIMITS.resultChars + 1) };
    expect(encode(long)).not.toHaveProperty('shown');
  });

  it('is shown whole where it is short', () => {
    const content = [text('a'), text('b')];
    expect(encode({ ...RESULT, content }, { resultChars: 10 })).toMatchObject({ content, truncated: false });
  });

  it('is cut over all of its texts, and says so', () => {
    const content = [text('abcdef'), text('ghij')];
    expect(encode({ ...RESULT, content }, { resultChars: 8 })).toMatchObject({
      content: [text('abcdef'), text('gh […]')],
      truncated: true,
    });
  });

  it('is cut after its first blocks, and says so', () => {
    const content = [text('a'), text('b'), text('c')];
    expect(encode({ ...RESULT, content }, { resultBlocks: 2 })).toMatchObject({
      content: [text('a'), text('b')],
      truncated: true,
    });
  });

  it('has no bytes of images in it', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'x'.repeat(9000) },
    } as const;
    expect(encode({ ...RESULT, content: [image] }, { resultChars: 10 })).toMatchObject({
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', size: 9000 } }],
      truncated: true,
    });
  });
});

it('a comment is a few kilobytes, whatever is in it', () => {
  const long = 'x'.repeat(1_000_000);
  const describe = { title: long, kind: 'command', paths: [], command: long, diff: long } as const;
  const because = { kind: 'person', by: 'bob', via: 'api', reason: long } as const;
  const content = Array.from({ length: 10_000 }, () => text(long));
  const events: ToolRunEvent[] = [
    { type: 'tool-start', id: 'c', name: long, describe, because },
    { type: 'tool-waiting', id: 'c', name: long, describe },
    { type: 'tool-progress', id: 'c', name: long, content: long },
    { ...RESULT, name: long, content, shown: long, because },
  ];
  for (const event of events)
    expect(JSON.stringify(encode(event, COMMENT_LIMITS)).length).toBeLessThan(5_000);
});

describe('the preview of arguments', () => {
  it('is the arguments themselves where they are short', () => {
    const input = { a: ['b', 1, null, { c: true }] };
    expect(boundInput(input, 1000)).toEqual({ input, truncated: false });
  });

  it('keeps their shape where a text in them is too long', () => {
    const input = { path: 'a.txt', content: 'x'.repeat(100_000), more: ['y'.repeat(100_000)] };
    const shown = boundInput(input, 50_000);
    expect(shown.truncated).toBe(true);
    expect(JSON.stringify(shown.input).length).toBeLessThan(50_000);
    expect(shown.input).toMatchObject({ path: 'a.txt', content: expect.stringMatching(/^x+ \[…\]$/) });
  });

  it('is empty where there is too much of everything', () => {
    const input = { many: Array.from({ length: 10_000 }, () => 'abc') };
    expect(boundInput(input, 1000)).toEqual({ input: {}, truncated: true });
  });
});

it('an encoded message is cut as a whole, its results with it', () => {
  const shown = encodeMessage(
    [
      text('x'.repeat(10)),
      { type: 'tool_result', toolUseId: 't', isError: false, content: [text('y'.repeat(50))] },
    ],
    { messageChars: 30, resultChars: 100 },
  );
  expect(shown).toEqual([
    text('x'.repeat(10)),
    { type: 'tool_result', tool_use_id: 't', is_error: false, content: [text(`${'y'.repeat(20)} […]`)] },
  ]);
});

describe('the reason of a verdict', () => {
  it.each<[VerdictReason, ToolRunResult['outcome'], string]>([
    [
      { kind: 'rule', rule: 'Bash(git:*)', source: 'configuration', part: 'git log' },
      'done',
      'rule Bash(git:*) of the configuration',
    ],
    [{ kind: 'rule', rule: 'Read', source: 'session', part: 'a' }, 'done', 'rule Read for this session'],
    [{ kind: 'mode', mode: 'allow' }, 'done', 'no rule matches, and the mode is allow'],
    [{ kind: 'person', by: 'alice', via: 'console' }, 'done', 'allowed by alice (console)'],
    [
      { kind: 'person', by: 'bob', via: 'api', reason: 'not now', rule: 'Bash(rm:*)' },
      'denied',
      'denied by bob (api), with the rule Bash(rm:*): not now',
    ],
    [{ kind: 'expiry' }, 'expired', 'nobody answered in time'],
  ])('explains %j', (because, outcome, words) => {
    expect(encode({ ...RESULT, because, outcome })).toMatchObject({ because: words });
  });

  it('explains nothing where nothing was decided', () => {
    expect(encode(RESULT)).toMatchObject({ because: null });
  });
});
