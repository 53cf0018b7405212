import { describe, expect, it } from 'vitest';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane, sampleOf } from './lanes.js';
import { overflow } from './overflow.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

const SUMMARY = '<analysis>Short.</analysis><summary>They read a.txt, which says alpha.</summary>';
/** Words of the request for a summary. */
const ASKED_FOR_SUMMARY = 'detailed summary';

describe.each(sampleOf('openai-responses'))('Claude Code on %s', (dialect) => {
  it('compacts by itself when the conversation does not fit any more, and goes on', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const lane = await openLane(dialect, {
      [ASKED_FOR_SUMMARY]: [say(SUMMARY)],
      'First task': [
        use([call('Read', { file_path: workspace.at('a.txt') }, 'call_a')]),
        say('It says alpha.'),
      ],
      'Second task': [
        [
          overflow(dialect),
          use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_b')]),
        ],
        say('Copied.'),
      ],
    });
    await new ClaudeRun(lane, workspace, { prompt: 'First task' }).exited;
    const run = new ClaudeRun(lane, workspace, { prompt: 'Second task', args: ['--continue'] });
    await run.exited;

    expect(lane.model.problems).toEqual([]);
    expect(run.result).toMatchObject({ subtype: 'success', is_error: false, result: 'Copied.' });
    expect(lane.model.order.slice(2)).toEqual([
      'Second task#1',
      `${ASKED_FOR_SUMMARY}#1`,
      'Second task#1',
      'Second task#2',
    ]);
    expect(run.events).toContainEqual(
      expect.objectContaining({
        subtype: 'compact_boundary',
        compact_metadata: expect.objectContaining({ trigger: 'auto' }),
      }),
    );
    expect(run.events.filter(({ subtype }) => subtype === 'api_retry')).toEqual([]);
    expect(await workspace.read('b.txt')).toBe('alpha\n');
    const after = lane.model.played.at(-1)?.seen.recorded.text;
    expect(after).toContain('which says alpha');
    expect(after).not.toContain('call_a');
  });

  it('compacts when told to', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane(dialect, {
      [ASKED_FOR_SUMMARY]: [say(SUMMARY)],
      'First task': [say('Nothing to do.')],
      'Second task': [say('Done.')],
    });
    const run = new ClaudeRun(lane, workspace, {});
    const results = (count: number) => () =>
      run.events.filter(({ type }) => type === 'result').length >= count;
    run.say('First task');
    await run.event(results(1));
    run.say('/compact');
    await run.event(results(2));
    run.say('Second task');
    await run.event(results(3));
    run.endInput();
    expect(await run.ends()).toMatchObject({ result: 'Done.' });
    expect(lane.model.order).toEqual(['First task#1', `${ASKED_FOR_SUMMARY}#1`, 'Second task#1']);
    expect(lane.model.played.at(-1)?.seen.recorded.text).toContain('which says alpha');
  });
});
