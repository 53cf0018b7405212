import { expect, it, describe } from 'vitest';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

describe.each(['openai-chat', 'anthropic-messages'] as const)('%s', (d) => {
  it('reads', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const lane = await openLane(d, {
      'Improve the greeting': [
        use([call('Read', { file_path: workspace.at('greeting.txt') }, 'call_1')], 'I read it first.'),
        use([call('Edit', { file_path: workspace.at('greeting.txt'), old_string: 'hello', new_string: '你好' }, 'call_2')]),
        use([call('Bash', { command: 'cat greeting.txt | tee copy.txt', description: 'Copy' }, 'call_3')]),
        say('Done.'),
      ],
    });
    const t = Date.now();
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Improve the greeting' });
    const result = await run.result();
    console.log(Date.now() - t, JSON.stringify(result).slice(0, 3000));
    console.log(await run.troubles(), lane.model.order, run.stderr, run.words);
    console.log(JSON.stringify(lane.model.played.at(-1)?.seen.turns, null, 1).slice(0, 6000));
    console.log(Object.entries(lane.model.played[0]!.seen.body).map(([k, v]) => k + '=' + JSON.stringify(v).slice(0, 150)).join('\n'));
    console.log(await workspace.read('copy.txt'));
  });
});
