/** Claude Code leaves out what an upstream of its own wire does not take, and goes on by itself. */
import { describe, expect, it } from 'vitest';
import { json } from '../support/replies.js';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { type Step, say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

/** One red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** In words that are not Anthropic's. */
const refuses =
  (message: string): Step =>
  () =>
    json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 });

describe('Claude Code on an upstream of its own wire', () => {
  it('goes on without an image that the model does not take', async () => {
    const workspace = await makeWorkspace({ 'a.png': Buffer.from(PNG, 'base64') });
    const lane = await openLane('anthropic-messages', {
      'Look at it': [
        use([call('Read', { file_path: workspace.at('a.png') }, 'call_a')]),
        [refuses('Vision input is unsupported by local-coder.'), say('I cannot see it.')],
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Look at it' });
    expect(await run.exited, run.report()).toBe(0);
    expect(lane.model.problems).toEqual([]);
    expect(run.result).toMatchObject({ result: 'I cannot see it.', is_error: false });
    const texts = lane.upstream.requests.filter(({ method }) => method === 'POST').map(({ text }) => text);
    expect(texts.map((text) => text.includes(PNG))).toEqual([false, true, false]);
  });

  it('goes on without an effort that the model does not take', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane('anthropic-messages', {
      'Say hello': [[refuses('Unrecognized request argument supplied: effort'), say('Hello.')]],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Say hello' });
    expect(await run.exited, run.report()).toBe(0);
    expect(lane.model.problems).toEqual([]);
    expect(run.result).toMatchObject({ result: 'Hello.', is_error: false });
    const efforts = lane.model.played.map(({ seen }) => seen.body['output_config']);
    expect(efforts).toEqual([{ effort: expect.any(String) }, undefined]);
  });
});
