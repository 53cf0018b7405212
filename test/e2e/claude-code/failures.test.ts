import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  claudeProcesses,
  contentOf,
  openWorld,
  result,
  says,
  tool,
  user,
} from '../../support/claude-world.js';
import { gate } from '../../support/gate.js';
import { sse } from '../../support/replies.js';
import { errorInDialect } from '../../support/scripted-answers.js';
import { anthropicStream, call } from '../../support/wire.js';

const READ = (path: string) => call('Read', { file_path: path }, 'toolu_read');

describe('what goes wrong', { timeout: 60_000 }, () => {
  it.each([
    [401, 'authentication_error', 401],
    [400, 'invalid_request_error', 400],
  ])('gives the status %i of the first model call to the client', async (status, type, expected) => {
    const world = await openWorld();
    world.script((request) => errorInDialect(status, type, 'The upstream says no')(request, 0));
    const answer = await world.post({ messages: [user('Hi')] });
    expect(answer.status).toBe(expected);
    expect(JSON.stringify(answer.body)).toContain('The upstream says no');
    expect(JSON.stringify(answer.body)).not.toContain('API Error');
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('is an error of the answer where something was said before', async () => {
    const world = await openWorld();
    world.script({ parts: [{ type: 'text', text: 'First.' }, READ(world.path('none'))] }, (request) =>
      errorInDialect(400, 'invalid_request_error', 'Not any more')(request, 0),
    );
    const answer = await world.post({ messages: [user('Hi')], stream: false });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('Not any more');
  });

  it('goes on in a new process where the old one died, and runs nothing twice', async () => {
    const world = await openWorld();
    const command = `echo once >> ${world.path('log')}`;
    world.script(
      { parts: [call('Bash', { command }, 'toolu_bash')] },
      async () => {
        for (const pid of claudeProcesses(world.root)) process.kill(pid, 'SIGKILL');
        return says('Lost.');
      },
      says('Found.'),
    );
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Found.' }]);
    expect(await readFile(world.path('log'), 'utf8')).toBe('once\n');
    const told = JSON.stringify(world.told(2));
    expect(told).toContain('toolu_bash');
  });

  it('ends the process when the client is gone, and the same request goes on', async () => {
    const world = await openWorld();
    const gone = new AbortController();
    const command = `echo once >> ${world.path('log')}`;
    world.script({ parts: [call('Bash', { command }, 'toolu_bash')] }, async (request) => {
      gone.abort();
      await request.aborted;
      return says('Nobody hears this.');
    });
    await expect(world.post({ messages: [user('Go')] }, {}, gone.signal)).rejects.toThrow();
    await world.upstream.whenIdle();
    world.script(says('Back.'));
    const answer = await world.post({ messages: [user('Go')] });
    expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Back.' }]);
    expect(await readFile(world.path('log'), 'utf8')).toBe('once\n');
  });

  it('starts again where a stream broke before anybody saw anything of it', async () => {
    // The head of an answer goes out with the first ping at the latest.
    const world = await openWorld({ limits: { pingMs: 2000 } });
    const whole = anthropicStream({ parts: [READ(world.path('none'))] });
    const broken = gate();
    const start = whole.slice(0, whole.indexOf('event: content_block_stop'));
    world.script(sse([start, broken], { end: 'truncate' }), says('Whole.'));
    const heard = await world.stream({ messages: [user('Hi')] }, (text) => {
      if (text.includes('message_start') && world.upstream.requests.length > 0) broken.open();
    });
    expect(heard).toContain('Whole.');
    expect(heard).not.toContain('event: error');
    expect(heard.match(/event: message_start/g)).toHaveLength(1);
  });

  it('never hands back a call by the bare name of a client tool', async () => {
    const world = await openWorld();
    world.script(
      {
        parts: [call('weather', { city: 'Paris' }, 'toolu_bare'), call('mcp__gateway__nope', {}, 'toolu_no')],
      },
      { parts: [call('mcp__gateway__weather', { city: 'Paris' }, 'toolu_right')] },
      says('Done.'),
    );
    const tools = [tool('weather')];
    const first = await world.post({ messages: [user('Hi')], tools });
    expect(contentOf(first)).toMatchObject([{ type: 'tool_use', id: 'toolu_right', name: 'weather' }]);
    const end = await world.post({
      tools,
      messages: [
        user('Hi'),
        { role: 'assistant', content: first.body['content'] },
        user([result('toolu_right', 'sunny')]),
      ],
    });
    expect(contentOf(end)).toEqual([{ type: 'text', text: 'Done.' }]);
  });
});
