import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { contentOf, openWorld, result, says, tool, user, type World } from '../../support/claude-world.js';
import { call } from '../../support/wire.js';

const ASKING = { config: { permissions: { mode: 'ask', unattended: 'wait' } } };

/** What the model was told about a call. */
function toldOf(world: World, id: string): string {
  const blocks = world.upstream.requests.flatMap(
    ({ text }) => text.match(new RegExp(`\\{[^{}]*"${id}".*`)) ?? [],
  );
  return blocks.at(-1) ?? '';
}

describe('permissions of what Claude Code does itself', { timeout: 60_000 }, () => {
  it('denies by rule what it would let through by itself, with the reason for the model', async () => {
    const world = await openWorld({
      config: { permissions: { mode: 'allow', deny: ['Read(./secret.txt)'] } },
    });
    await writeFile(world.path('secret.txt'), 'hidden words');
    await writeFile(world.path('open.txt'), 'open words');
    world.script(
      {
        parts: [
          call('Read', { file_path: world.path('secret.txt') }, 'toolu_secret'),
          call('Read', { file_path: world.path('open.txt') }, 'toolu_open'),
          call('Bash', { command: 'cat secret.txt' }, 'toolu_bash'),
        ],
      },
      says('Done.'),
    );
    const answer = await world.post({ messages: [user('Read')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    const told = JSON.stringify(world.told(1));
    expect(told).toContain('open words');
    expect(told).not.toContain('hidden words');
    expect(told).toContain('Read(./secret.txt)');
  });

  it('asks a person, who may change the input, and tells the model so', async () => {
    const world = await openWorld(ASKING);
    world.script({ parts: [call('Bash', { command: 'echo a > a.txt' }, 'toolu_a')] }, says('Done.'));
    const answering = world.post({ messages: [user('Go')] });
    const asked = await world.approval();
    expect(asked).toMatchObject({ tool: 'Bash', input: { command: 'echo a > a.txt' } });
    await world.decide(asked, { decision: 'allow', updatedInput: { command: 'echo b > b.txt' } });
    expect(contentOf(await answering)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(existsSync(world.path('a.txt'))).toBe(false);
    expect(await readFile(world.path('b.txt'), 'utf8')).toBe('b\n');
    expect(JSON.stringify(world.told(1))).toContain('A person changed the input');
  });

  it('shows why Claude Code itself would ask, bound to what is decided', async () => {
    const world = await openWorld(ASKING);
    const input = { file_path: world.path('.git/hooks/pre-commit'), content: 'x' };
    world.script({ parts: [call('Write', input, 'toolu_w')] }, says('Done.'));
    const answering = world.post({ messages: [user('Go')] });
    const asked = await world.approval();
    expect(asked).toMatchObject({
      tool: 'Write',
      hints: {
        reason: expect.stringMatching(/pre-commit.*sensitive file/),
        default_to_no: false,
        suppress_always: false,
        // What Claude Code only repeats of the call.
        description: null,
      },
      // It suggests another mode, which is no rule.
      suggestions: [{ rule: 'Edit(./.git/hooks/pre-commit)', source: 'gateway', scope: null }],
    });
    await world.decide(asked, { decision: 'deny', reason: 'no' });
    await answering;
  });

  it('tells the model what a person says who refuses', async () => {
    const world = await openWorld(ASKING);
    const input = { file_path: world.path('n.txt'), content: 'x' };
    world.script({ parts: [call('Write', input, 'toolu_w')] }, says('Done.'));
    const answering = world.post({ messages: [user('Go')] });
    await world.decide(await world.approval(), { decision: 'deny', reason: 'Not in this folder' });
    await answering;
    expect(existsSync(world.path('n.txt'))).toBe(false);
    expect(JSON.stringify(world.told(1))).toContain('Not in this folder');
  });

  it('asks a question of Claude Code, and gives the answer back', async () => {
    const world = await openWorld(ASKING);
    const questions = [
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
    world.script({ parts: [call('AskUserQuestion', { questions }, 'toolu_q')] }, says('Done.'));
    const answering = world.post({ messages: [user('Ask')] });
    const asked = await world.approval();
    expect(asked).toMatchObject({ tool: 'AskUserQuestion' });
    const answers = { 'Which one?': 'Right' };
    await world.decide(asked, { decision: 'allow', updatedInput: { questions, answers } });
    await answering;
    expect(JSON.stringify(world.told(1))).toMatch(/Which one\?.{0,10}=.{0,10}Right/);
  });

  it('hands calls back while a person is asked, and waits for the person when results have come', async () => {
    const world = await openWorld(ASKING);
    world.script(
      {
        parts: [
          call('Bash', { command: 'echo x > x.txt' }, 'toolu_b'),
          call('mcp__gateway__weather', { city: 'Rome' }, 'toolu_w'),
        ],
      },
      says('Done.'),
    );
    const tools = [tool('weather')];
    const first = await world.post({ messages: [user('Go')], tools });
    expect(contentOf(first)).toMatchObject([{ type: 'tool_use', id: 'toolu_w' }]);
    const going = world.post({
      tools,
      messages: [
        user('Go'),
        { role: 'assistant', content: first.body['content'] },
        user([result('toolu_w', 'sun')]),
      ],
    });
    await world.decide(await world.approval(), { decision: 'allow' });
    expect(contentOf(await going)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(existsSync(world.path('x.txt'))).toBe(true);
    expect(toldOf(world, 'toolu_w')).toContain('sun');
  });

  it('starts no sub-agent in a folder of its own', async () => {
    const world = await openWorld();
    execFileSync('git', ['init', '-q', world.root]);
    const work = { description: 'look', prompt: 'Look', subagent_type: 'general-purpose' };
    world.script({ parts: [call('Agent', { ...work, isolation: 'worktree' }, 'toolu_t')] }, says('Done.'));
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(JSON.stringify(world.told(1))).toContain('isolation is not offered');
    expect(existsSync(world.path('.claude'))).toBe(false);
  });

  it('judges what a sub-agent does, which has no tools of the client', async () => {
    const world = await openWorld({
      config: { permissions: { mode: 'allow', deny: ['Read(./secret.txt)'] } },
    });
    await writeFile(world.path('secret.txt'), 'hidden words');
    world.script(
      {
        parts: [
          call('Agent', { description: 'look', prompt: 'Look', subagent_type: 'general-purpose' }, 'toolu_t'),
        ],
      },
      {
        parts: [
          call('Read', { file_path: world.path('secret.txt') }, 'toolu_sr'),
          call('mcp__gateway__weather', { city: 'Rome' }, 'toolu_sw'),
        ],
      },
      says('The sub-agent has seen nothing.'),
      says('Done.'),
    );
    const answer = await world.post({ messages: [user('Go')], tools: [tool('weather')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    const told = JSON.stringify(world.told(2));
    expect(told).not.toContain('hidden words');
    expect(told).toContain('only the main agent can call it');
    expect(JSON.stringify(world.told(3))).toContain('The sub-agent has seen nothing.');
    expect(answer.body['usage']).toMatchObject({ input_tokens: 80, output_tokens: 40 });
  });
});
