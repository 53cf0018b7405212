import { describe, expect, it } from 'vitest';
import { gate } from '../support/gate.js';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane, sampleOf } from './lanes.js';
import { resultsOf, sortedResults } from './read-request.js';
import { heldAfter, say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

const agent = (id: string, prompt: string, rest: object = {}) =>
  call('Agent', { description: 'Look', prompt, subagent_type: 'general-purpose', ...rest }, id);

describe.each(sampleOf('openai-chat'))('Claude Code on %s', (dialect) => {
  it('starts two sub-agents at once and reads what they found', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const lane = await openLane(dialect, {
      'Look into A': [
        use([call('Read', { file_path: workspace.at('a.txt') }, 'call_a')]),
        say('It says alpha.'),
      ],
      'Look into B': [
        use([call('Read', { file_path: workspace.at('b.txt') }, 'call_b')]),
        say('It says beta.'),
      ],
      'Delegate it': [
        use([
          agent('call_1', 'Look into A', { run_in_background: false }),
          agent('call_2', 'Look into B', { run_in_background: false }),
        ]),
        say('alpha and beta'),
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Delegate it' });
    expect(await run.ends()).toMatchObject({
      result: 'alpha and beta',
      subagent_stats: { spawned: 2, completed: 2, failed: 0 },
    });
    const [, last] = lane.model.requestsOf('Delegate it');
    expect(last && sortedResults(last).map(({ id, text }) => [id, text])).toEqual([
      ['call_1', expect.stringContaining('It says alpha.')],
      ['call_2', expect.stringContaining('It says beta.')],
    ]);
    // Each in its own conversation: neither sees what the other one read.
    expect(lane.model.requestsOf('Look into A').flatMap(resultsOf)).toMatchObject([{ id: 'call_a' }]);
    expect(lane.model.requestsOf('Look into B').flatMap(resultsOf)).toMatchObject([{ id: 'call_b' }]);
  });

  it('goes on while a sub-agent works in the background, and is told of its end', async () => {
    const workspace = await makeWorkspace();
    const working = gate();
    const lane = await openLane(dialect, {
      'Look into A': [heldAfter(say('Nothing there.'), working, 3)],
      'Delegate it': [
        use([agent('call_1', 'Look into A', { run_in_background: true })]),
        say('It is under way.'),
        say('Nothing was found.'),
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Delegate it' });
    await run.hears('under way.');
    working.open();
    expect(await run.ends()).toMatchObject({ result: 'Nothing was found.' });
    const told = lane.model.requestsOf('Delegate it').at(-1)?.turns.at(-1);
    expect(JSON.stringify(told)).toContain('Nothing there.');
  });
});
