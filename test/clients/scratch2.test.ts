import { it } from 'vitest';
import { call, openaiError, anthropicError, cut } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { say, use, heldAfter } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';
import { show } from './scratch-show.js';
it.each(['openai-chat', 'anthropic-messages'] as const)('thinks %s', async (d) => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const lane = await openLane(d, {
      'First task': [
        { parts: [{ type: 'thinking', text: cut('I should read the file first. 先读文件。', 5), signature: 'c2lnbmF0dXJl' }, { type: 'text', text: 'Reading.' }, call('Read', { file_path: workspace.at('a.txt') }, 'call_1')] },
        { parts: [{ type: 'thinking', text: cut('Now I know.', 5), signature: 'c2lnbmF0dXJlMg==' }, call('Read', { file_path: workspace.at('b.txt') }, 'call_2')] },
        { parts: [{ type: 'thinking', text: cut('That is all.', 5), signature: 'c2lnbmF0dXJlMw==' }, { type: 'text', text: 'alpha' }] },
      ],
      'Go on': [say('Done.')],
    }, d === 'openai-chat' ? { upstream: { profile: 'deepseek' } } : {});
    const first = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'First task', env: {} });
    await show(lane, first, 6000); return;
    const run = new ClaudeRun({ url: lane.gateway.url, workspace, prompt: 'Go on', args: ['--continue'], env: { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' } });
    await show(lane, run);
    console.log(await run.debugLog().then((x) => x.split('\n').filter((l) => /models|discover/i.test(l)).join('\n')));
});
