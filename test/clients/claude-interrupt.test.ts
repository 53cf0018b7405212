import { describe, expect, it } from 'vitest';
import { gate } from '../support/gate.js';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane, sampleOf } from './lanes.js';
import { assistantTurns, resultsOf, sortedResults, userTexts } from './read-request.js';
import { heldAfter, say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

describe.each(sampleOf('openai-responses'))('Claude Code on %s', (dialect) => {
  it('is stopped in the middle of an answer and continued', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const lane = await openLane(dialect, {
      'Tell me a story': [
        use([call('Read', { file_path: workspace.at('a.txt') }, 'call_a')]),
        heldAfter(say('Once upon a time there was a gateway that never slept.'), gate(), 12),
      ],
      'Go on': [
        use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_b')]),
        say('The end.'),
      ],
    });
    const stopped = new ClaudeRun(lane, workspace, { prompt: 'Tell me a story' });
    await stopped.hears('Once upon');
    stopped.signal('SIGINT');
    await stopped.exited;
    expect(await lane.upstream.requests[1]?.outcome).toBe('aborted');

    const run = new ClaudeRun(lane, workspace, { prompt: 'Go on', args: ['--continue'] });
    await run.exited;
    expect(run.result).toMatchObject({ subtype: 'success', result: 'The end.' });
    expect(lane.model.problems).toEqual([]);
    expect(lane.model.left).toEqual([]);
    expect(lane.upstream.requests).toHaveLength(4);
    expect(await workspace.read('b.txt')).toBe('alpha\n');
    const last = lane.model.played.at(-1)?.seen;
    expect(last && resultsOf(last).map(({ id }) => id)).toEqual(['call_a', 'call_b']);
    expect(
      last &&
        assistantTurns(last)
          .flatMap(({ texts }) => texts)
          .join(''),
    ).toContain('Once upon');
  });

  it('is interrupted in the middle of a tool call and given another task', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const whole = use(
      [call('Write', { file_path: workspace.at('never.txt'), content: 'x'.repeat(400) }, 'call_w')],
      'I write it.',
    );
    const lane = await openLane(dialect, {
      'Write a lot': [heldAfter(whole, gate(), 16)],
      'Only read': [use([call('Read', { file_path: workspace.at('a.txt') }, 'call_a')]), say('alpha')],
    });
    const run = new ClaudeRun(lane, workspace, {});
    run.say('Write a lot');
    await run.event(({ event }) => JSON.stringify(event)?.includes('input_json_delta') === true);
    run.interrupt();
    await run.event(({ type }) => type === 'result');
    expect(await lane.upstream.requests[0]?.outcome).toBe('aborted');
    run.say('Only read');
    await run.event(({ type, subtype }) => type === 'result' && subtype === 'success');
    run.endInput();
    expect(await run.exited).toBe(0);
    expect(lane.model.problems).toEqual([]);
    expect(lane.model.order).toEqual(['Write a lot#1', 'Only read#1', 'Only read#2']);
    await expect(workspace.read('never.txt')).rejects.toThrow('ENOENT');
  });

  it('is interrupted while a tool runs, and the model learns which calls were not finished', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const lane = await openLane(dialect, {
      'Wait for it': [
        use([
          call('Bash', { command: 'touch started; sleep 60', description: 'Wait' }, 'call_w'),
          call('Read', { file_path: workspace.at('a.txt') }, 'call_r'),
        ]),
      ],
      'Never mind': [say('All right.')],
    });
    const run = new ClaudeRun(lane, workspace, {});
    run.say('Wait for it');
    await workspace.appears('started');
    run.interrupt();
    await run.event(({ type }) => type === 'result');
    run.say('Never mind');
    await run.event(({ type, subtype }) => type === 'result' && subtype === 'success');
    run.endInput();
    expect(await run.exited).toBe(0);
    expect(lane.model.problems).toEqual([]);
    const last = lane.model.played.at(-1)?.seen;
    expect(last && sortedResults(last).map(({ id }) => id)).toEqual(['call_r', 'call_w']);
    expect(last && userTexts(last).join('\n')).toContain('interrupted by user');
  });
});
