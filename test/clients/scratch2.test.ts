import { it } from 'vitest';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';
it('reads', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const lane = await openLane('anthropic-messages', {
      'Improve the greeting': [
        use([call('Read', { file_path: workspace.at('greeting.txt') }, 'call_1')], 'I read it first.'),
        say('Done.'),
      ],
    });
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Improve the greeting' });
    await Promise.race([run.exited, new Promise((r) => setTimeout(r, 5000))]);
    console.log(lane.model.order, run.events.slice(1).map(e=>JSON.stringify(e).slice(0,500)), await run.troubles());
    for (const p of lane.model.played) console.log(JSON.stringify(p.seen.turns.slice(-2)).slice(-1500));
});
