/** Every tool that is offered on this engine works: called once with good input, it gives a result. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openWorld, says, user, type Wire, type World } from '../../support/claude-world.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { call } from '../../support/wire.js';

const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: 'code', id: 'one', metadata: {}, source: 'x', outputs: [], execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

const QUESTIONS = [
  {
    question: 'Which one?',
    header: 'Pick',
    multiSelect: false,
    options: [
      { label: 'Left', description: 'l' },
      { label: 'Right', description: 'r' },
    ],
  },
];

/** What a person has to agree to, whatever the rules say. */
const ASKED: Readonly<Record<string, Wire>> = {
  AskUserQuestion: { questions: QUESTIONS, answers: { 'Which one?': 'Left' } },
  ExitPlanMode: { plan: 'Change a.txt' },
};

/** In an order in which each has what it needs; some tools by all of their names. */
function inputs(world: World, page: string): readonly (readonly [name: string, input: Wire])[] {
  const file_path = world.path('a.txt');
  const notebook_path = world.path('n.ipynb');
  const work = { description: 'look', prompt: 'Look around', subagent_type: 'general-purpose' };
  return [
    ['Read', { file_path }],
    ['Edit', { file_path, old_string: 'one', new_string: 'two' }],
    ['MultiEdit', { file_path, edits: [{ old_string: 'two', new_string: 'three' }] }],
    ['Write', { file_path: world.path('new.txt'), content: 'x' }],
    ['NotebookRead', { notebook_path }],
    ['NotebookEdit', { notebook_path, cell_id: 'one', new_source: 'y' }],
    ['Jupyter', { notebook_path, cell_id: 'one', new_source: 'z' }],
    ['Glob', { pattern: '*.txt', path: world.root }],
    ['Grep', { pattern: 'three', path: world.root }],
    ['LS', { path: world.root }],
    ['Bash', { command: 'echo heard' }],
    ['WebFetch', { url: page, prompt: 'What is there?' }],
    ['TodoWrite', { todos: [{ content: 'Do it', status: 'pending', activeForm: 'Doing it' }] }],
    ['TodoRead', {}],
    ['Think', { thought: 'Well.' }],
    ['MemoryWrite', { file_path: 'a.md', content: 'kept' }],
    ['MemoryRead', { file_path: 'a.md' }],
    ['StickerRequest', { trigger: 'a sticker, please' }],
    ['AskUserQuestion', { questions: QUESTIONS }],
    ['ExitPlanMode', { plan: 'Change a.txt' }],
    ['Task', work],
    ['Agent', work],
    ['Architect', { prompt: 'Add a cache' }],
  ];
}

/** Tools that start an agent, whose model says one thing. */
const STARTS_AGENT: ReadonlySet<string> = new Set(['Task', 'Agent', 'Architect']);
/** Where there is a wall, commands run in the background too. */
const OF_COMMANDS: readonly (readonly [name: string, input: Wire])[] = [
  ['Bash', { command: 'sleep 60', run_in_background: true }],
  ['BashOutput', { bash_id: 'bash_1' }],
  ['KillShell', { shell_id: 'bash_1' }],
];

/** What the model was told of a call, in the last request that has it. */
function resultOf(world: World, id: string): Wire | undefined {
  const blocks = world.upstream.requests.flatMap((_request, index) =>
    world.told(index).flatMap(({ content }): Wire[] => (Array.isArray(content) ? content : [])),
  );
  return blocks.findLast((block) => block['type'] === 'tool_result' && block['tool_use_id'] === id);
}

async function startPage(): Promise<string> {
  const server = createServer((_request, response) => response.end('<p>A page.</p>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
}

describe('every tool of Claude Code', { timeout: 120_000 }, () => {
  it.each(['off', 'required'])('that is offered gives a result (sandbox: %s)', async (sandbox) => {
    const page = await startPage();
    const world = await openWorld({
      model: { max_turns: 60 },
      config: {
        sandbox,
        permissions: { mode: 'allow', unattended: 'wait' },
        tools: {
          architect: true,
          sticker: true,
          web_fetch: { allow_private: [new URL(page).host] },
        },
      },
    });
    await writeFile(world.path('a.txt'), 'one\n');
    await writeFile(world.path('n.ipynb'), NOTEBOOK);
    const used = [...inputs(world, page), ...(sandbox === 'required' ? OF_COMMANDS : [])];
    for (const [index, [name, input]] of used.entries()) {
      world.script({ parts: [call(name, input, `toolu_x${index}x`)] });
      if (STARTS_AGENT.has(name)) world.script(says('The report.'));
    }
    world.script(says('Done.'));
    const answering = world.post({ messages: [user('Use them all')] });
    for (const name of Object.keys(ASKED)) {
      const asked = await world.approval();
      expect(asked['tool']).toBe(name);
      await world.decide(asked, { decision: 'allow', updatedInput: ASKED[name] });
    }
    const answer = await answering;
    expect(answer.body['content']).toEqual([{ type: 'text', text: 'Done.' }]);
    for (const [index, [name]] of used.entries()) {
      const { type, content, is_error = false } = resultOf(world, `toolu_x${index}x`) ?? {};
      expect([name, type, is_error, content]).toEqual([name, 'tool_result', false, expect.anything()]);
    }
    const { tools } = world.upstream.requests[0]?.json ?? {};
    const offered = (Array.isArray(tools) ? tools : []).map((each: Wire) => String(each['name']));
    const names = new Set(used.map(([name]) => name));
    expect(offered.filter((name) => !names.has(name))).toEqual([]);
  });
});
