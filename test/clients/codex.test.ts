import { describe, expect, it } from 'vitest';
import { gate } from '../support/gate.js';
import { call, cut } from '../support/wire.js';
import { CodexRun, codexHome } from './codex.js';
import { freeCall, namespacedCall } from './codex-calls.js';
import { LANES, type Lane, openGateway, openLane, sampleOf } from './lanes.js';
import { overflow } from './overflow.js';
import { assistantTurns, resultsOf, sortedResults } from './read-request.js';
import { heldAfter, say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

const shell = (id: string, cmd: string) => call('exec_command', { cmd }, id);

const PATCH = [
  '*** Begin Patch',
  '*** Update File: greeting.txt',
  '@@',
  '-hello world',
  '+你好，世界 "quoted" \\ back',
  '*** Add File: docs/note.md',
  '+# Note',
  '*** End Patch',
  '',
].join('\n');

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A model that Codex has no entry for gets plain functions; the others are asked in newer ways. */
const MODELS = { plain: 'claude-opus-5-5', patching: 'gpt-5.5', scripting: 'gpt-6-sol' } as const;

describe.each(sampleOf('openai-chat', 'openai-responses'))('Codex on %s', (dialect) => {
  it('reads, edits and runs commands', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const lane = await openLane(dialect, {
      'Make the greeting Chinese': [
        use([shell('call_read', 'cat greeting.txt')], 'I look at the file first.'),
        use([shell('call_patch', `apply_patch <<'EOF'\n${PATCH}EOF`)]),
        use([shell('call_a', 'cat greeting.txt > copy.txt'), shell('call_b', 'echo oops; exit 3')]),
        say('The greeting is 你好，世界 now.'),
      ],
    });
    const run = new CodexRun(lane, workspace, {
      home: await codexHome(lane),
      prompt: 'Make the greeting Chinese',
      model: MODELS.plain,
    });
    expect(await run.ends()).toBe('The greeting is 你好，世界 now.');

    expect(await workspace.read('greeting.txt')).toBe('你好，世界 "quoted" \\ back\n');
    expect(await workspace.read('copy.txt')).toBe('你好，世界 "quoted" \\ back\n');
    const last = lane.model.played.at(-1)?.seen;
    const results = last ? sortedResults(last) : [];
    expect(results.map(({ id }) => id)).toEqual(['call_a', 'call_b', 'call_patch', 'call_read']);
    expect(results.find(({ id }) => id === 'call_read')?.text).toContain('hello world');
    expect(results.find(({ id }) => id === 'call_b')?.text).toMatch(/code 3[\s\S]*oops/);
    expect(last && assistantTurns(last)[0]).toMatchObject({
      texts: ['I look at the file first.'],
      calls: [{ id: 'call_read', name: 'exec_command', input: { cmd: 'cat greeting.txt' } }],
    });
  });

  it('patches files with free text, thinks, and goes on in a resumed session', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const lane = await openLane(dialect, {
      'Patch it': [
        {
          parts: [
            { type: 'thinking', text: cut('First I look. 先看。', 4), signature: 'c2VhbC0x' },
            shell('call_read', 'cat greeting.txt'),
          ],
        },
        freeCall('apply_patch', PATCH, 'call_patch'),
        say('Patched.'),
      ],
      'And now': [say('Still patched.')],
    });
    const home = await codexHome(lane);
    const run = new CodexRun(lane, workspace, { home, prompt: 'Patch it', model: MODELS.patching });
    await run.exited;
    const resumed = new CodexRun(lane, workspace, {
      home,
      prompt: 'And now',
      model: MODELS.patching,
      args: ['resume', '--last'],
    });
    expect(await resumed.ends()).toBe('Still patched.');

    expect(run.troubles).toEqual([]);
    expect(run.items('file_change')).toMatchObject([
      { status: 'completed', changes: [{ kind: 'add' }, { kind: 'update' }] },
    ]);
    expect(run.items('reasoning')).toMatchObject([{ text: 'First I look. 先看。' }]);
    expect(await workspace.read('greeting.txt')).toBe('你好，世界 "quoted" \\ back\n');
    expect(await workspace.read('docs/note.md')).toBe('# Note\n');
    const last = lane.model.played.at(-1)?.seen;
    const [looked, patched] = last ? assistantTurns(last) : [];
    expect(patched?.calls).toMatchObject([{ id: 'call_patch', name: 'apply_patch' }]);
    const { input } = patched?.calls[0] ?? {};
    expect(typeof input === 'string' ? input : Object(input)['input']).toBe(PATCH);
    if (dialect !== 'openai-chat') expect(looked?.sealed).toEqual(['c2VhbC0x']);
  });

  it('runs a script that calls its tools', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const script = `const { output } = await tools.exec_command({ cmd: "cat greeting.txt | tee copy.txt" });\ntext("Read: " + output);`;
    const lane = await openLane(dialect, {
      'Script it': [freeCall('exec', script, 'call_exec', 'functions'), say('Scripted.')],
    });
    const run = new CodexRun(lane, workspace, {
      home: await codexHome(lane),
      prompt: 'Script it',
      model: MODELS.scripting,
    });
    expect(await run.ends()).toBe('Scripted.');
    expect(await workspace.read('copy.txt')).toBe('hello world\n');
    const last = lane.model.played.at(-1)?.seen;
    expect(last && resultsOf(last)).toMatchObject([
      { id: 'call_exec', text: expect.stringContaining('Read: hello world') },
    ]);
  });

  it('starts a sub-agent by a tool in a namespace and waits for it', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
    const agents = 'multi_agent_v1';
    let agent = '';
    const lane = await openLane(dialect, {
      'Look into A': [use([shell('call_a', 'cat a.txt')]), say('It says alpha.')],
      'Delegate it': [
        namespacedCall(agents, 'spawn_agent', { message: 'Look into A' }, 'call_spawn'),
        (seen) => {
          agent = /"agent_id":\s*"([^"]+)"/.exec(resultsOf(seen)[0]?.text ?? '')?.[1] ?? '';
          const wait = namespacedCall(
            agents,
            'wait_agent',
            { targets: [agent], timeout_ms: 10_000 },
            'call_wait',
          );
          return typeof wait === 'function' ? wait(seen) : wait;
        },
        say('The agent says alpha.'),
      ],
    });
    const run = new CodexRun(lane, workspace, {
      home: await codexHome(lane),
      prompt: 'Delegate it',
      model: MODELS.plain,
    });
    expect(await run.ends()).toBe('The agent says alpha.');
    expect(agent).not.toBe('');
    const last = lane.model.requestsOf('Delegate it').at(-1);
    expect(last && resultsOf(last)[1]?.text).toContain('It says alpha.');
  });

  it('shows an image to the model', async () => {
    const workspace = await makeWorkspace({ 'a.png': Buffer.from(PNG, 'base64') });
    const lane = await openLane(dialect, {
      'Look at it': [
        use([call('view_image', { path: workspace.at('a.png') }, 'call_view')]),
        say('A red dot.'),
      ],
    });
    const run = new CodexRun(lane, workspace, {
      home: await codexHome(lane),
      prompt: 'Look at it',
      model: MODELS.patching,
    });
    expect(await run.ends()).toBe('A red dot.');
    const last = lane.model.played.at(-1)?.seen;
    expect(last && resultsOf(last)).toMatchObject([{ id: 'call_view' }]);
    expect(last?.recorded.text).toMatch(/image\/png/);
  });

  it('compacts when the conversation did not fit any more, and goes on', async () => {
    const workspace = await makeWorkspace();
    const summary = 'CONTEXT CHECKPOINT COMPACTION';
    const lane = await openLane(dialect, {
      [summary]: [say('They said hello.')],
      'First task': [say('Hello.')],
      'Second task': [overflow(dialect)],
      'Third task': [say('Going on.')],
    });
    const home = await codexHome(lane);
    const model = MODELS.patching;
    const resume = { home, model, args: ['resume', '--last'] };
    await new CodexRun(lane, workspace, { home, model, prompt: 'First task' }).exited;
    const full = new CodexRun(lane, workspace, { ...resume, prompt: 'Second task' });
    await full.exited;
    expect(full.troubles.join()).toContain('ran out of room');
    const run = new CodexRun(lane, workspace, { ...resume, prompt: 'Third task' });
    expect(await run.ends()).toBe('Going on.');
    expect(lane.model.order.slice(1)).toEqual(['Second task#1', `${summary}#1`, 'Third task#1']);
    expect(JSON.stringify(lane.model.played.at(-1)?.seen.turns)).toContain('They said hello.');
  });

  it('is stopped in the middle of an answer and continued', async () => {
    const workspace = await makeWorkspace();
    const held = gate();
    const lane = await openLane(dialect, {
      'Tell me a story': [heldAfter(say('Once upon a time there was a gateway.'), held, 9)],
      'Go on': [say('The end.')],
    });
    const home = await codexHome(lane);
    const stopped = new CodexRun(lane, workspace, { home, prompt: 'Tell me a story', model: MODELS.plain });
    await held.reached;
    stopped.signal('SIGINT');
    await stopped.exited;
    expect(await lane.upstream.requests[0]?.outcome).toBe('aborted');
    const run = new CodexRun(lane, workspace, {
      home,
      prompt: 'Go on',
      model: MODELS.plain,
      args: ['resume', '--last'],
    });
    expect(await run.ends()).toBe('The end.');
    expect(JSON.stringify(lane.model.played.at(-1)?.seen.turns)).toContain('Tell me a story');
  });
});

describe.each(sampleOf('anthropic-messages'))('Codex with its plan on %s', (dialect) => {
  it('writes a plan, edits a file with apply_patch and ticks the plan off', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const plan = (id: string, look: string, patch: string) =>
      call(
        'update_plan',
        {
          plan: [
            { step: 'Look at the greeting', status: look },
            { step: '改成中文', status: patch },
          ],
        },
        id,
      );
    const lane = await openLane(dialect, {
      'Plan and patch it': [
        use([plan('call_plan', 'in_progress', 'pending')], 'I plan it first.'),
        use([shell('call_read', 'cat greeting.txt')]),
        freeCall('apply_patch', PATCH, 'call_patch'),
        use([plan('call_done', 'completed', 'completed')]),
        say('Patched by the plan.'),
      ],
    });
    const run = new CodexRun(lane, workspace, {
      home: await codexHome(lane),
      prompt: 'Plan and patch it',
      model: MODELS.patching,
      // Codex leaves its plan out unless it is asked for.
      args: ['-c', 'tools.update_plan.enabled=true'],
    });
    expect(await run.ends()).toBe('Patched by the plan.');

    expect(lane.model.played[0]?.seen.tools).toEqual(expect.arrayContaining(['update_plan', 'apply_patch']));
    expect(run.items('todo_list')).toMatchObject([
      {
        items: [
          { text: 'Look at the greeting', completed: true },
          { text: '改成中文', completed: true },
        ],
      },
    ]);
    expect(run.items('file_change')).toMatchObject([{ status: 'completed' }]);
    expect(await workspace.read('greeting.txt')).toBe('你好，世界 "quoted" \\ back\n');
    expect(await workspace.read('docs/note.md')).toBe('# Note\n');
    const last = lane.model.played.at(-1)?.seen;
    expect(last && sortedResults(last)).toMatchObject([
      { id: 'call_done', text: expect.stringContaining('Plan updated') },
      { id: 'call_patch', text: expect.stringContaining('Success') },
      { id: 'call_plan', text: expect.stringContaining('Plan updated') },
      { id: 'call_read', text: expect.stringContaining('hello world') },
    ]);
  });
});

describe.each(LANES)('Codex in the place of OpenAI on %s', (dialect) => {
  it('talks over one WebSocket, sends only what is new, and says no word of reconnecting', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const lane = await openLane(dialect, {
      'Read it': [
        {
          parts: [
            { type: 'thinking', text: cut('First I look.', 4), signature: 'c2VhbC0x' },
            shell('call_read', 'cat greeting.txt'),
          ],
        },
        use([shell('call_copy', 'cp greeting.txt copy.txt')]),
        say('It says hello world.'),
      ],
    });
    const home = await codexHome(lane, 'openai');
    const run = new CodexRun(lane, workspace, { home, model: MODELS.patching, prompt: 'Read it' });
    expect(await run.ends()).toBe('It says hello world.');
    expect(run.report()).not.toMatch(/reconnect|falling back/i);
    expect(await workspace.read('copy.txt')).toBe('hello world\n');

    const last = lane.model.played.at(-1)?.seen;
    expect(last && sortedResults(last).map(({ id }) => id)).toEqual(['call_copy', 'call_read']);
    const beginnings = lane.model.played.map(({ seen }) => [seen.instructions, seen.turns[0]]);
    expect(beginnings).toEqual([beginnings[0], beginnings[0], beginnings[0]]);
    expect(await served(lane)).toEqual({ sockets: 1, posts: 0, refused: 0 });
  });
});

describe('Codex in the place of OpenAI', () => {
  it('works over a WebSocket with an agent', async () => {
    const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
    const conversations = {
      'Read it': [use([shell('call_read', 'cat greeting.txt')]), say('It says hello world.')],
    };
    const agent = { engine: 'native', upstream: 'scripted', model: 'm', tools: 'none', cwd: workspace.path };
    const lane = await openGateway(
      'openai-chat',
      conversations,
      { '*': agent },
      { config: { sandbox: 'off' } },
    );
    const home = await codexHome(lane, 'openai');
    const run = new CodexRun(lane, workspace, { home, model: MODELS.patching, prompt: 'Read it' });
    expect(await run.ends()).toBe('It says hello world.');
    const last = lane.model.played.at(-1)?.seen;
    expect(last && resultsOf(last)).toMatchObject([
      { id: 'call_read', text: expect.stringContaining('hello world') },
    ]);
    expect(await served(lane)).toEqual({ sockets: 1, posts: 0, refused: 0 });
  });

  it('learns over a WebSocket that the conversation did not fit any more', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane('openai-chat', { 'Long task': [overflow('openai-chat')] });
    const home = await codexHome(lane, 'openai');
    const run = new CodexRun(lane, workspace, { home, model: MODELS.patching, prompt: 'Long task' });
    await run.exited;
    expect(run.troubles.join()).toContain('ran out of room');
    expect(lane.model.played).toHaveLength(1);
  });
});

/** What the gateway served of `/v1/responses`, by its own figures. */
async function served(lane: Lane): Promise<{ sockets: number; posts: number; refused: number }> {
  const lines = (await (await fetch(`${lane.gateway.url}/metrics`)).text()).split('\n');
  const count = (...labels: RegExp[]) =>
    lines
      .filter(
        (line) => line.startsWith('toolgate_requests_total{') && labels.every((label) => label.test(line)),
      )
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  const responses = /route="\/v1\/responses"/;
  return {
    sockets: count(responses, /status="101"/),
    posts: count(responses, /method="POST"/),
    // 499: it ends as soon as it has its answer, and so may leave before the message is over.
    refused: count(/status="4(?!99)/),
  };
}
