import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LIMITS } from '../../../src/engines/agent/limits.js';
import { MessageInput } from '../../../src/engines/claude-code/processes/conversation-process.js';
import { claudeProcesses, contentOf, openWorld, says, tool, user } from '../../support/claude-world.js';
import { allGone, descendants } from '../../support/processes.js';
import { call } from '../../support/wire.js';

const stopped: number[] = [];

afterEach(() => {
  for (const pid of stopped.splice(0)) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It was ended, as it should be.
    }
  }
});

function stop(root: string): void {
  for (const pid of claudeProcesses(root)) {
    process.kill(pid, 'SIGSTOP');
    stopped.push(pid);
  }
}

async function kill(root: string): Promise<void> {
  const own = claudeProcesses(root);
  const processes = descendants(process.pid).filter(({ pid }) => own.includes(pid));
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
  await allGone(processes);
}

describe('a process that is watched', { timeout: 60_000 }, () => {
  it('is ended when it does nothing, and another one answers', async () => {
    const world = await openWorld({ patience: { heardMs: 8000 }, limits: { pingMs: 1000 } });
    world.script(says('One.'));
    const messages = [user('First')];
    const first = await world.post({ messages });
    const [own] = claudeProcesses(world.root);
    stop(world.root);
    world.script(says('Two.'));
    const heard = await world.stream(
      { messages: [...messages, { role: 'assistant', content: first.body['content'] }, user('Second')] },
      () => {},
    );
    expect(heard).toContain('Two.');
    expect(heard.indexOf('event: ping')).toBeLessThan(heard.indexOf('Two.'));
    expect(heard).toContain('event: ping');
    expect(claudeProcesses(world.root)).not.toContain(own);
  });

  it('says what happened where the next one is silent too', async () => {
    const world = await openWorld({ patience: { heardMs: 100 } });
    // Of what never reaches it, a process says nothing.
    vi.spyOn(MessageInput.prototype, 'send').mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    const answer = await world.post({ messages: [user('Hi')] });
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).toContain('did nothing for 0.1 seconds');
  });

  it('counts what sub-agents cost where the turns are used up behind them', async () => {
    const world = await openWorld({ model: { max_turns: 1 } });
    const input = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose' };
    world.script({ parts: [call('Agent', input, 'toolu_task')] }, says('Looked.'));
    const answer = await world.post({ messages: [user('Go')] });
    expect(answer.body).toMatchObject({
      stop_reason: 'pause_turn',
      usage: { input_tokens: 40, output_tokens: 20 },
    });
  });

  it('gives a sub-agent so many model calls and no more', async () => {
    const world = await openWorld();
    const input = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose' };
    const { maxSteps } = LIMITS.subAgent;
    const glob = (at: number) => ({ parts: [call('Glob', { pattern: `*.${at}` }, `toolu_glob${at}`)] });
    world.script(
      { parts: [call('Agent', input, 'toolu_task')] },
      ...Array.from({ length: maxSteps }, (_, at) => glob(at)),
      says('That was it.'),
    );
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'That was it.' }]);
    expect(world.upstream.requests).toHaveLength(maxSteps + 2);
    expect(JSON.stringify(world.told(maxSteps + 1).at(-1))).toContain(`after ${maxSteps} model calls`);
  });

  it('is never asked by a client to run what it could not read itself', async () => {
    const world = await openWorld();
    world.script(
      { parts: [{ type: 'call', id: 'toolu_cut', name: 'mcp__gateway__weather', arguments: '{"city":' }] },
      says('Done.'),
    );
    const answer = await world.post({ messages: [user('Hi')], tools: [tool('weather')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(world.told(1).at(-1)).toMatchObject({
      content: [{ type: 'tool_result', tool_use_id: 'toolu_cut', is_error: true }],
    });
  });

  it('may be lost in a turn though the one before it was lost between two', async () => {
    const world = await openWorld();
    world.script(says('One.'));
    const messages = [user('First')];
    const first = await world.post({ messages });
    await kill(world.root);
    world.script(async () => {
      await kill(world.root);
      return says('Lost.');
    }, says('Two.'));
    const second = await world.post({
      messages: [...messages, { role: 'assistant', content: first.body['content'] }, user('Second')],
    });
    expect(contentOf(second)).toEqual([{ type: 'text', text: 'Two.' }]);
  });
});
