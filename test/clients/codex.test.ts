import { describe, expect, it } from 'vitest';
import { call } from '../support/wire.js';
import { CodexRun, codexHome } from './codex.js';
import { LANES, openLane } from './lanes.js';
import { resultsOf } from './read-request.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

const shell = (id: string, cmd: string) => call('exec_command', { cmd }, id);

describe.each(LANES)('Codex on %s', (dialect) => {
  it('reads, edits and runs commands', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const patch = '*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello world\n+你好，世界\n*** End Patch';
    const lane = await openLane(dialect, {
      'Make the greeting Chinese': [
        use([shell('call_read', 'cat greeting.txt')], 'I look at the file first.'),
        use([shell('call_patch', `apply_patch <<'EOF'\n${patch}\nEOF`)]),
        use([shell('call_a', 'cat greeting.txt > copy.txt'), shell('call_b', 'ls; exit 3')]),
        say('The greeting is 你好，世界 now.'),
      ],
    });
    const home = await codexHome(lane);
    const run = new CodexRun(lane, workspace, { home, prompt: 'Make the greeting Chinese', model: 'claude-opus-5-5' });
    expect(await run.ends()).toBe('The greeting is 你好，世界 now.');

    expect(await workspace.read('greeting.txt')).toBe('你好，世界\n');
    expect(await workspace.read('copy.txt')).toBe('你好，世界\n');
    const last = lane.model.played.at(-1)?.seen;
    const results = last ? resultsOf(last) : [];
    expect(results.map(({ id }) => id)).toEqual(['call_read', 'call_patch', 'call_a', 'call_b']);
    expect(results[0]?.text).toContain('hello world');
    expect(results[3]?.text).toMatch(/exit(ed)?.*3/i);
  });
});
