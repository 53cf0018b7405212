import { describe, expect, it } from 'vitest';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import { ClaudeRun } from './claude-code.js';
import { LANES, openLane } from './lanes.js';
import { type Step, say } from './scripted-model.js';
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

describe.each(LANES)('Claude Code on %s', (dialect) => {
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

  it('does not notice that the upstream failed twice before it answered', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane(dialect, {
      'Say hello': [[fails(503, 'server_error'), fails(500, 'api_error'), say('Hello.')]],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Say hello' });
    expect(await run.ends()).toMatchObject({ result: 'Hello.' });
    expect(lane.upstream.requests).toHaveLength(3);
  });
});
