import { describe, expect, it } from 'vitest';
import { claudeProcesses, contentOf, openWorld, says, user, type World } from '../../support/claude-world.js';
import { allGone, descendants } from '../../support/processes.js';
import { errorInDialect } from '../../support/scripted-answers.js';

const TOO_LONG = 'prompt is too long: 210000 tokens > 200000 maximum';
const CONTINUED = 'This session is being continued';

async function ask(world: World, messages: object[], said: string, wishes: object = {}): Promise<object[]> {
  const asked = [...messages, user(said)];
  const answer = await world.post({ messages: asked, ...wishes });
  return [...asked, { role: 'assistant', content: answer.body['content'] }];
}

describe('Claude Code that makes room by itself', { timeout: 60_000 }, () => {
  it('sums up as it likes, answers as it was asked to, and the session keeps every word', async () => {
    const world = await openWorld();
    world.script(says('Answer one'), says('Answer two'));
    const before = await ask(world, await ask(world, [], 'Question one'), 'Question two');
    world.script(
      (request) => errorInDialect(400, 'invalid_request_error', TOO_LONG)(request, 0),
      says('<summary>In short.</summary>'),
      says('Answer three'),
    );
    const after = await ask(world, before, 'Question three', {
      max_tokens: 321,
      temperature: 0.5,
      stop_sequences: ['STOP'],
    });
    expect(after.at(-1)).toMatchObject({ content: [{ type: 'text', text: 'Answer three' }] });
    const [, , failed, summary, answer] = world.upstream.requests.map(({ json }) => json);
    const shaped = { max_tokens: 321, temperature: 0.5, stop_sequences: ['STOP'] };
    expect(failed).toMatchObject(shaped);
    expect(answer).toMatchObject(shaped);
    expect(JSON.stringify(answer)).toContain(CONTINUED);
    expect(JSON.stringify(summary)).not.toContain(CONTINUED);
    expect(summary).not.toHaveProperty('temperature');
    expect(summary).not.toHaveProperty('stop_sequences');
    expect(summary?.['max_tokens']).toBeGreaterThan(321);

    // A new process has nothing but the session.
    const own = claudeProcesses(world.root);
    const processes = descendants(process.pid).filter(({ pid }) => own.includes(pid));
    for (const { pid } of processes) process.kill(pid, 'SIGKILL');
    await allGone(processes);
    world.script(says('Answer four'));
    const end = await world.post({ messages: [...after, user('Question four')] });
    expect(contentOf(end)).toEqual([{ type: 'text', text: 'Answer four' }]);
    const told = JSON.stringify(world.told(world.upstream.requests.length - 1));
    for (const word of ['one', 'two', 'three']) expect(told).toContain(`Answer ${word}`);
    expect(told).not.toContain(CONTINUED);
    expect(told).not.toContain('In short.');
  });
});
