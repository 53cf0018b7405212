import { describe, expect, it } from 'vitest';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { LANES, openLane } from './lanes.js';
import { assistantTurns, resultsOf, sortedResults } from './read-request.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

describe.each(LANES)('Claude Code on %s', (dialect) => {
  it('reads, edits, writes and runs a command', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const [greeting, note] = [workspace.at('greeting.txt'), workspace.at('docs/note.md')];
    const lane = await openLane(dialect, {
      'Make the greeting Chinese': [
        use([call('Read', { file_path: greeting }, 'call_read')], 'I look at the file first.'),
        use([
          call(
            'Edit',
            { file_path: greeting, old_string: 'hello world', new_string: '你好，世界 🌏' },
            'call_edit',
          ),
        ]),
        use([
          call('Write', { file_path: note, content: 'Greeting: 你好\n\t"quoted" \\ back\n' }, 'call_write'),
        ]),
        use([call('Bash', { command: 'cat greeting.txt > copy.txt; ls', description: 'Copy' }, 'call_bash')]),
        say('The greeting is 你好，世界 now.'),
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Make the greeting Chinese' });
    const result = await run.ends();

    expect(result).toMatchObject({ result: 'The greeting is 你好，世界 now.', num_turns: 5 });
    expect(await workspace.read('greeting.txt')).toBe('你好，世界 🌏\n');
    expect(await workspace.read('docs/note.md')).toBe('Greeting: 你好\n\t"quoted" \\ back\n');
    expect(await workspace.read('copy.txt')).toBe('你好，世界 🌏\n');
    if (dialect === 'anthropic-messages') {
      // The byte lane: nothing is changed but the credential.
      const { recorded, instructions } = lane.model.played[0]?.seen ?? {};
      expect(recorded?.headers).toMatchObject({
        'x-api-key': 'upstream-secret',
        'anthropic-beta': expect.stringContaining('claude-code-'),
      });
      expect(instructions).toContain('x-anthropic-billing-header');
    }
    const last = lane.model.played.at(-1)?.seen;
    expect(last && resultsOf(last).map(({ id }) => id)).toEqual([
      'call_read',
      'call_edit',
      'call_write',
      'call_bash',
    ]);
    expect(last && resultsOf(last)[0]?.text).toContain('hello world');
    expect(last && resultsOf(last)[3]?.text).toContain('copy.txt');
    expect(last && assistantTurns(last)[0]).toMatchObject({
      texts: ['I look at the file first.'],
      calls: [{ id: 'call_read', name: 'Read', input: { file_path: greeting } }],
    });
  });

  it('calls three tools at once, gets errors and recovers', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const lane = await openLane(dialect, {
      'Gather the letters': [
        use(
          [
            call('Read', { file_path: workspace.at('a.txt') }, 'call_a'),
            call('Read', { file_path: workspace.at('b.txt') }, 'call_b'),
            call('Bash', { command: 'echo gamma', description: 'Say gamma' }, 'call_c'),
          ],
          'All three at once.',
        ),
        use([
          call('Read', { file_path: workspace.at('missing.txt') }, 'call_missing'),
          call('Bash', { command: 'echo oops >&2; exit 3', description: 'Fail' }, 'call_fails'),
        ]),
        use([
          call('Write', { file_path: workspace.at('all.txt'), content: 'alpha beta gamma\n' }, 'call_all'),
        ]),
        say('Gathered.'),
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Gather the letters' });
    expect(await run.ends()).toMatchObject({ result: 'Gathered.' });

    expect(await workspace.read('all.txt')).toBe('alpha beta gamma\n');
    const [, second, third] = lane.model.requestsOf('Gather the letters');
    // Claude Code sends results as they came; a wire that goes by order gets them in the order of the calls.
    const order = dialect === 'openai-chat' ? resultsOf : sortedResults;
    const ordered = second ? order(second) : [];
    expect(ordered.map(({ id, text }) => [id, text.trim()])).toEqual([
      ['call_a', expect.stringContaining('alpha')],
      ['call_b', expect.stringContaining('beta')],
      ['call_c', 'gamma'],
    ]);
    const failed = third ? resultsOf(third).slice(-2) : [];
    expect(failed.map(({ id }) => id).toSorted()).toEqual(['call_fails', 'call_missing']);
    // A wire without a field for errors says it in words.
    for (const { text, isError } of failed) expect(isError || /^(error|<)/i.test(text)).toBe(true);
    expect(failed.find(({ id }) => id === 'call_fails')?.text).toMatch(/exit code 3[\s\S]*oops/i);
  });

  it('takes a long answer whole, in any script', async () => {
    const workspace = await makeWorkspace();
    const line = '天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。🌗 <tag> & "quotes" \\n\n';
    const long = Array.from({ length: 150 }, (_, at) => `${at}. ${line}`).join('');
    const lane = await openLane(dialect, { 'Recite it': [say(long)] });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Recite it' });
    expect((await run.ends())['result']).toBe(long);
    expect(run.blocks('text').map(({ text }) => text)).toEqual([long]);
  });
});
