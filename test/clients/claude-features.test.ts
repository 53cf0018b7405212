import { describe, expect, it } from 'vitest';
import { isRecord } from '../support/violation.js';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane, sampleOf } from './lanes.js';
import { resultsOf, userTexts } from './read-request.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

/** One red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.each(sampleOf('openai-chat'))('Claude Code on %s', (dialect) => {
  it('shows images to the model, also from two calls at once', async () => {
    const image = Buffer.from(PNG, 'base64');
    const workspace = await makeWorkspace({ 'a.png': image, 'b.png': image });
    const lane = await openLane(dialect, {
      'Look at them': [
        use([
          call('Read', { file_path: workspace.at('a.png') }, 'call_a'),
          call('Read', { file_path: workspace.at('b.png') }, 'call_b'),
        ]),
        say('Two red dots.'),
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Look at them' });
    expect(await run.ends()).toMatchObject({ result: 'Two red dots.' });
    const last = lane.model.played.at(-1)?.seen;
    const sent = last?.recorded.text.split(PNG).length;
    expect(sent).toBe(3);
    if (dialect !== 'openai-chat') return;
    // A tool message of this wire is text: the images follow when every call has its result.
    const [results, images] = last?.turns.slice(-2) ?? [];
    expect(results).toMatchObject({ role: 'tool', results: [{ id: 'call_a' }, { id: 'call_b' }] });
    const url = `data:image/png;base64,${PNG}`;
    expect(images).toMatchObject({ role: 'user', images: [url, url] });
  });

  it('finds a deferred tool and calls it', async () => {
    const notebook = {
      cells: [{ cell_type: 'code', source: '1', metadata: {}, outputs: [], execution_count: null, id: 'c1' }],
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    };
    const workspace = await makeWorkspace({ 'n.ipynb': JSON.stringify(notebook) });
    const path = workspace.at('n.ipynb');
    const lane = await openLane(dialect, {
      'Change the notebook': [
        use([
          call('ToolSearch', { query: 'select:NotebookEdit', max_results: 5 }, 'call_find'),
          call('Read', { file_path: path }, 'call_read'),
        ]),
        use([
          call(
            'NotebookEdit',
            { notebook_path: path, cell_id: 'c1', new_source: 'print("你好")' },
            'call_edit',
          ),
        ]),
        say('Changed.'),
      ],
    });
    const run = new ClaudeRun(lane, workspace, { prompt: 'Change the notebook' });
    expect(await run.ends()).toMatchObject({ result: 'Changed.' });
    expect(JSON.parse(await workspace.read('n.ipynb')).cells[0].source).toBe('print("你好")');
    const [first, second] = lane.model.played.map(({ seen }) => seen);
    expect(first?.tools).not.toContain('NotebookEdit');
    expect(second?.tools).toContain('NotebookEdit');
    // What keeps deferral switched on at the original is no tool that another model should see.
    if (dialect !== 'anthropic-messages') expect(first?.tools).not.toContain('DeferredToolPlaceholder');
  });

  it('gives structured output', async () => {
    const workspace = await makeWorkspace();
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, count: { type: 'integer' } },
      required: ['name', 'count'],
      additionalProperties: false,
    };
    const output = { name: '名字', count: 2 };
    const lane = await openLane(dialect, {
      'Count them': [use([call('StructuredOutput', output, 'call_out')])],
    });
    const run = new ClaudeRun(lane, workspace, {
      prompt: 'Count them',
      args: ['--json-schema', JSON.stringify(schema)],
    });
    expect(await run.ends()).toMatchObject({ structured_output: output });
    expect(lane.model.played[0]?.seen.tools).toContain('StructuredOutput');
  });

  it('keeps what it says in mid-conversation where it was said', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const lane = await openLane(dialect, {
      'First question': [say('First answer.')],
      'Second question': [
        use([call('Read', { file_path: workspace.at('a.txt') }, 'call_1')]),
        say('Second answer.'),
      ],
    });
    await new ClaudeRun(lane, workspace, { prompt: 'First question' }).exited;
    const run = new ClaudeRun(lane, workspace, {
      prompt: 'Second question',
      args: ['--continue'],
    });
    expect(await run.ends()).toMatchObject({ result: 'Second answer.' });
    const [first, second, third] = lane.model.played.map(({ seen }) => seen);
    // The environment is told by a system message behind the first prompt, and stays there.
    const at = (seen: typeof first, words: string): number =>
      seen?.turns.findIndex((turn) => JSON.stringify(turn).includes(words)) ?? -1;
    const environment = 'Primary working directory';
    for (const seen of [first, second, third]) {
      expect(at(seen, environment)).toBeGreaterThanOrEqual(at(seen, 'First question'));
      expect(seen?.instructions).not.toContain(environment);
    }
    expect(at(third, environment)).toBeLessThan(at(third, 'First answer.'));
    expect(third && resultsOf(third)).toMatchObject([{ id: 'call_1' }]);
    expect(third && userTexts(third).join('\n')).toContain('Second question');
    // An upstream that caches prefixes finds the same one again.
    if (dialect !== 'anthropic-messages') expect(prefixOf(third?.body)).toBe(prefixOf(second?.body));
  });
});

/** What a request of the other wires begins with: tools and the first turns. */
function prefixOf(body: unknown): string {
  if (!isRecord(body)) return '';
  const { tools, messages, input, instructions } = body;
  const turns = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [];
  return JSON.stringify([instructions, tools, turns.slice(0, 4)]);
}
