import { it } from 'vitest';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';
import { show } from './scratch-show.js';
it('subagents', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const lane = await openLane('openai-chat', {
      'ASK-A': [use([call('Read', { file_path: workspace.at('a.txt') }, 'call_a1')]), say('It is alpha')],
      'ASK-B': [use([call('Read', { file_path: workspace.at('b.txt') }, 'call_b1')]), say('It is beta')],
      'Delegate it': [
        use([call('Agent', { description: 'first', prompt: 'ASK-A read', subagent_type: 'general-purpose', run_in_background: false }, 'call_1'), call('Agent', { description: 'second', prompt: 'ASK-B read', subagent_type: 'Explore', run_in_background: false }, 'call_2')]),
        say('Done.'),
      ],
    });
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Delegate it' });
    await show(lane, run);
});
it('toolsearch', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const lane = await openLane('openai-chat', {
      'Plan it': [
        use([call('ToolSearch', { query: 'select:TaskStop,NotebookEdit', max_results: 5 }, 'call_1')]),
        use([call('TaskStop', { task_id: 'none' }, 'call_2')]),
        say('Done.'),
      ],
    });
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Plan it' });
    await show(lane, run);
    const t: any = lane.model.played.at(-1)!.seen.body;
    console.log(JSON.stringify(t.tools.filter((x: any) => /Deferred|TaskStop|Notebook/.test(JSON.stringify(x)))).slice(0, 3000));
});
it('image', async () => {
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    const workspace = await makeWorkspace({ 'a.png': png });
    const lane = await openLane('openai-chat', {
      'Look at it': [
        use([call('Read', { file_path: workspace.at('a.png') }, 'call_1')]),
        say('Done.'),
      ],
    });
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Look at it' });
    await show(lane, run);
});
it('json schema', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const lane = await openLane('openai-chat', {
      'Structure it': [
        (seen) => { const t: any = (seen.body as any).tools; console.log(JSON.stringify(t.filter((x: any) => /Structured/.test(JSON.stringify(x)))).slice(0, 2000)); return use([call('StructuredOutput', { name: 'x', count: 2 }, 'call_1')])},
        say('Done.'),
      ],
    });
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Structure it', args: ['--json-schema', JSON.stringify({ type: 'object', properties: { name: { type: 'string' }, count: { type: 'integer' } }, required: ['name', 'count'] })] });
    await show(lane, run);
});
