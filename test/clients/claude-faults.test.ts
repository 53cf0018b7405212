import { describe, expect, it } from 'vitest';
import { json } from '../support/replies.js';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import type { JsonRecord } from '../support/violation.js';
import { call, openaiError, type Scripted } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane, sampleOf } from './lanes.js';
import { type Step, say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

/** Words enough that some of them are through when the connection breaks. */
const LONG = 'The answer begins well, goes on for a while, '.repeat(20);

const breaksOff: Step = async ({ recorded }) => {
  const reply = await inDialect(say(LONG))(recorded, 0);
  if (reply.kind !== 'answer') return reply;
  return { ...reply, body: reply.body.slice(0, reply.body.length / 2), end: 'reset' };
};

const fails =
  (status: number, type: string): Step =>
  ({ recorded }) =>
    errorInDialect(status, type, 'Not now.')(recorded, 0);

describe.each(sampleOf('openai-chat'))('Claude Code on %s', (dialect) => {
  it('keeps what it has of an answer that breaks off, and goes on from there', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane(dialect, { 'Tell it all': [breaksOff, say('and so it ends.')] });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Tell it all' });
    expect(await run.exited).toBe(0);
    expect(lane.model.problems).toEqual([]);
    expect(lane.model.order).toEqual(['Tell it all#1', 'Tell it all#2']);
    expect(run.result).toMatchObject({ subtype: 'success', is_error: false });
    expect(String(run.result['result'])).toMatch(/and so it ends\.$/);
    // This is how trouble shows: every other test looks for it and finds none.
    expect((await run.troubles()).join()).toContain('cut off mid-stream');
  });

  it('does not notice that the upstream failed before it answered', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane(dialect, {
      'Say hello': [[fails(503, 'server_error'), say('Hello.')]],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Say hello' });
    expect(await run.ends()).toMatchObject({ result: 'Hello.' });
    expect(lane.upstream.requests).toHaveLength(2);
  });
});

/** What their providers say of an answer that would be too long. */
const TOO_MUCH = {
  'openai-chat': openaiError(
    'max_tokens is too large: 128000. This model supports at most 16384 completion tokens, whereas you provided 128000.',
    { param: 'max_tokens', code: 'invalid_value' },
  ),
  'openai-responses': openaiError(
    "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 128000 instead.",
    { param: 'max_output_tokens', code: 'integer_above_max_value' },
  ),
} as const;

const LIMIT = 16_384;

const askedFor = (body: JsonRecord): unknown => body['max_completion_tokens'] ?? body['max_output_tokens'];

describe.each(['openai-chat', 'openai-responses'] as const)('Claude Code on %s', (dialect) => {
  it('is answered where the upstream gives no answers as long as it asks for', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const bounded =
      (answer: Scripted): Step =>
      ({ body }) =>
        Number(askedFor(body)) <= LIMIT ? answer : json(TOO_MUCH[dialect], { status: 400 });
    const read = bounded(use([call('Read', { file_path: workspace.at('a.txt') }, 'call_a')]));
    const lane = await openLane(dialect, { 'Read it': [[read, read], bounded(say('alpha'))] });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Read it' });
    expect(await run.ends()).toMatchObject({ result: 'alpha' });
    // Learned once, and kept to.
    expect(lane.model.played.map(({ seen }) => askedFor(seen.body))).toEqual([128_000, LIMIT, LIMIT]);
  });
});
