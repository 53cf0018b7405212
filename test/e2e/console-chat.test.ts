/** `POST /api/chat`: turns that the console begins, and that belong to the gateway. */

import { describe, expect, it } from 'vitest';
import { eventByEvent, gate, json, sse } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { anthropicError, anthropicStream, call, callsAnswer, textAnswer } from '../support/wire.js';
import { openChatWorld, watch } from './console-chat-harness.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('a conversation with a plain model', () => {
  it('is kept: the model is told all of it, and it is counted like any request', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push({ ...textAnswer('Hello.'), usage: { input: 5, output: 2 } }, textAnswer('Still here.'));
    const first = await alice.say({ content: 'hi' });
    expect(first).toMatchObject({ how: 'new', turn: expect.stringMatching(/^req_/) });
    const second = await alice.say({ session: first.session, content: 'are you there' });
    expect(second).toMatchObject({ session: first.session, how: 'continue' });
    expect(await alice.texts(first.session)).toEqual([
      'user: hi',
      'assistant: Hello.',
      'user: are you there',
      'assistant: Still here.',
    ]);
    expect(world.told(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(world.upstream.requests[1]?.json).not.toHaveProperty('tools');
    const [listed] = await alice.sessions();
    expect(listed).toMatchObject({
      ...{ id: first.session, key: 'alice', model: 'plain', engine: 'relay', root: null, title: 'hi' },
      ...{ running: false, interrupted: false, pending_approvals: 0 },
      usage: { requests: 2, errors: 0, unpriced_requests: 0 },
    });
    const traces = await alice.call<{ data: { id: string; status: number }[] }>('GET', '/api/traces');
    expect(traces.body.data.map(({ id, status }) => [id, status])).toEqual([
      [second.turn, 200],
      [first.turn, 200],
    ]);
  });

  it('has calls of an agent in its history, and no tool that could be called', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('Hello.'));
    const plain = await alice.say({ content: 'hi' });
    world.steps.push(callsAnswer(call('LS', { path: world.root }, 'c1')), textAnswer('I looked.'));
    const agent = await alice.say({ model: 'coder', session: plain.session, content: 'look around' });
    expect(agent).toMatchObject({ how: 'import' });
    expect(agent.session).not.toBe(plain.session);
    expect((await alice.session(agent.session)).body).toMatchObject({
      ...{ engine: 'native', model: 'coder', parent: plain.session, root: world.root, title: 'hi' },
    });
    world.steps.push(textAnswer('Plain again.'));
    const back = await alice.say({ model: 'plain', session: agent.session, content: 'and now' });
    expect(back).toMatchObject({ how: 'import' });
    const { body } = await alice.session(back.session);
    expect(body).toMatchObject({ engine: 'relay', parent: agent.session });
    expect(body.messages.flatMap(({ content }) => content.map(({ type }) => type))).toEqual([
      ...['text', 'text', 'text', 'tool_use', 'tool_result', 'text', 'text', 'text'],
    ]);
    expect(body.messages.map(({ turn }) => turn)).toEqual([0, 0, 1, 1, 1, 1, 2, 2]);
    const asked = world.upstream.requests.at(-1)?.json;
    expect(asked).toMatchObject({ tools: [{ name: 'LS' }], tool_choice: { type: 'none' } });
    expect(JSON.stringify(asked?.['messages'])).toContain('tool_result');
    expect(await alice.texts(plain.session)).toEqual(['user: hi', 'assistant: Hello.']);
  });

  it('goes on with another model of the same kind', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('One.'), textAnswer('Two.'));
    const { session } = await alice.say({ content: 'hi' });
    const other = await alice.say({ model: 'other-one', session, content: 'and you' });
    expect(other).toMatchObject({ session, how: 'continue' });
    expect((await alice.session(session)).body).toMatchObject({ model: 'other-one' });
  });

  it('keeps what was said when it is stopped', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const held = gate();
    const [head, ...rest] = eventByEvent(anthropicStream(textAnswer('Once upon a time there was a fox.')));
    const cut = rest.findIndex((event) => event.includes('content_block_delta')) + 1;
    world.steps.push(sse([head ?? '', ...rest.slice(0, cut), held, ...rest.slice(cut)]));
    const { body } = await alice.chat({ content: 'a story' });
    await held.reached;
    for (;;) {
      const { body: stopped } = await alice.call<{ stopped: boolean }>(
        'POST',
        `/api/sessions/${body.session}/stop`,
      );
      if (stopped.stopped) break;
    }
    held.open();
    const after = await alice.over(body.session);
    expect(after).toMatchObject({ running: false, interrupted: false });
    const [, said] = after.messages;
    expect(said).toMatchObject({ role: 'assistant', content: [{ type: 'text' }] });
    world.steps.push(textAnswer('And so on.'));
    await alice.say({ session: body.session, content: 'go on' });
    expect(world.told(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect((await alice.call('POST', `/api/sessions/${body.session}/stop`)).body).toEqual({
      stopped: false,
      withdrawn: [],
    });
  });
});

describe('what is attached', () => {
  it('reaches the model, and is served so that nothing of it can run', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('A dot.'));
    const { session } = await alice.say({
      content: [
        { type: 'text', text: 'what is this' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        {
          type: 'document',
          title: 'page',
          source: { type: 'text', media_type: 'text/plain', data: '<script>alert(1)</script>' },
        },
      ],
    });
    const [told] = world.told(0);
    expect(told?.content).toMatchObject([
      { type: 'text' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'document', title: 'page' },
    ]);
    const [message] = (await alice.session(session)).body.messages;
    const hrefs = message?.content.flatMap((block) =>
      (block.type === 'image' || block.type === 'document') && 'href' in block.source
        ? [block.source.href ?? '']
        : [],
    );
    const [image = '', document = ''] = hrefs ?? [];
    const shown = await alice.fetch('GET', image);
    expect(Buffer.from(await shown.arrayBuffer()).toString('base64')).toBe(PNG);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': expect.stringContaining('private'),
    });
    const saved = await alice.fetch('GET', document);
    expect(await saved.text()).toBe('<script>alert(1)</script>');
    expect(Object.fromEntries(saved.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment/),
      'x-content-type-options': 'nosniff',
    });
    expect((await world.person('bob').fetch('GET', image)).status).toBe(404);
    expect((await alice.fetch('GET', `${image}x`)).status).toBe(404);
  });

  it('is never an SVG or a page, whatever it calls itself', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('No.'));
    const data = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>').toString(
      'base64',
    );
    const { session } = await alice.say({
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/svg+xml', data } }],
    });
    const [message] = (await alice.session(session)).body.messages;
    const [block] = message?.content ?? [];
    const href = block?.type === 'image' && 'href' in block.source ? block.source.href : undefined;
    const served = await alice.fetch('GET', href ?? '');
    expect(served.headers.get('content-type')).toBe('application/octet-stream');
    expect(served.headers.get('content-disposition')).toMatch(/^attachment/);
  });

  it('cannot be a result or a call', async () => {
    const world = await openChatWorld();
    const content = [{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }];
    expect(await world.person('alice').chat({ content })).toMatchObject({ status: 400 });
    expect(await world.person('alice').chat({ content: '  ' })).toMatchObject({ status: 400 });
    expect(await world.person('alice').sessions()).toEqual([]);
  });
});

describe('a turn', () => {
  it('goes on when nobody waits for it any more', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const held = gate();
    world.steps.push(async () => {
      await held.pass();
      return textAnswer('Done all the same.');
    });
    const leave = new AbortController();
    const response = await alice.fetch(
      'POST',
      '/api/chat',
      { model: 'coder', content: 'work' },
      leave.signal,
    );
    const started: { session: string } = JSON.parse(await response.text());
    await held.reached;
    leave.abort();
    held.open();
    await alice.over(started.session);
    expect(await alice.texts(started.session)).toEqual(['user: work', 'assistant: Done all the same.']);
  });

  it('is refused while another one of the session runs, also of two at once', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('Hello.'));
    const { session } = await alice.say({ content: 'hi' });
    const held = gate();
    world.steps.push(async () => {
      await held.pass();
      return textAnswer('One of two.');
    });
    const both = await Promise.all([
      alice.chat({ session, content: 'same words' }),
      alice.chat({ session, content: 'same words' }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
    await held.reached;
    expect(await alice.chat({ session, content: 'other words' })).toMatchObject({
      status: 409,
      body: { error: { code: 'session_busy' } },
    });
    // Nobody else is told that it is there.
    expect(await world.person('bob').chat({ session, content: 'mine?' })).toMatchObject({ status: 404 });
    held.open();
    await alice.over(session);
    expect(await alice.texts(session)).toHaveLength(4);
  });

  it('is the same for the same client_id, and another request under it is refused', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('Once.'));
    const [one, two] = await Promise.all([
      alice.chat({ content: 'hi', client_id: 'a1' }),
      alice.chat({ content: 'hi', client_id: 'a1' }),
    ]);
    expect(one.status).toBe(202);
    expect(two).toEqual(one);
    await alice.over(one.body.session);
    expect(await alice.chat({ content: 'hi', client_id: 'a1' })).toEqual(one);
    expect(await alice.chat({ content: 'hello', client_id: 'a1' })).toMatchObject({ status: 409 });
    expect(world.upstream.requests).toHaveLength(1);
    world.steps.push(textAnswer('Mine.'));
    const bob = await world.person('bob').chat({ content: 'hi', client_id: 'a1' });
    expect(bob.body.session).not.toBe(one.body.session);
    await world.person('bob').over(bob.body.session);
  });

  it('is told piece by piece to whoever watches, also that it was stopped', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const told = await watch(alice);
    world.steps.push(textAnswer(['Hel', 'lo.']));
    const plain = await alice.say({ content: 'hi' });
    const ended = await told.until((event) => event['turn'] === plain.turn && event['state'] === 'ended');
    expect(ended).toMatchObject({
      session: plain.session,
      end: 'complete',
      stop_reason: 'end_turn',
      error: null,
    });
    const events = told.events.filter((event) => event['turn'] === plain.turn);
    expect(events[0]).toMatchObject({
      type: 'turn',
      state: 'began',
      model: 'plain',
      message: [{ text: 'hi' }],
    });
    expect(events.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('')).toBe('Hello.');
    world.steps.push(callsAnswer(call('Bash', { command: 'sleep 300', description: 'x' }, 'c1')));
    const { body } = await alice.chat({ model: 'coder', content: 'run' });
    await told.until((event) => event['turn'] === body.turn && event['type'] === 'tool_start');
    await alice.call('POST', `/api/sessions/${body.session}/stop`);
    const stopped = await told.until((event) => event['turn'] === body.turn && event['state'] === 'ended');
    expect(stopped).toMatchObject({ end: 'stopped', error: null });
    told.close();
  });

  it('counts against the rate of its key', async () => {
    const key = { key: 'secret-of-alice', name: 'alice', scopes: ['call'], rpm: 1 };
    const world = await openChatWorld({ rest: { server: { keys: [key] } } });
    const alice = world.person('alice');
    world.steps.push(textAnswer('One.'));
    await alice.say({ content: 'hi' });
    expect((await alice.chat({ content: 'again' })).status).toBe(429);
  });

  it('is of two equal beginnings two conversations', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('A.'), textAnswer('B.'));
    const [one, two] = await Promise.all([alice.say({ content: 'hi' }), alice.say({ content: 'hi' })]);
    expect(one.session).not.toBe(two.session);
  });

  it('is refused as the dialect refuses it, and leaves nothing behind', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const bob = world.person('bob');
    expect(await alice.chat({ model: 'nothing', content: 'x' })).toMatchObject({
      status: 404,
      body: { error: { param: 'model' } },
    });
    expect(await bob.chat({ model: 'coder', content: 'x' })).toMatchObject({ status: 403 });
    world.steps.push(textAnswer('Mine.'));
    const { session } = await alice.say({ content: 'hi' });
    for (const who of ['bob', 'root'] as const) {
      expect(await world.person(who).chat({ session, content: 'x' })).toMatchObject({ status: 404 });
    }
    expect(await bob.session(session)).toMatchObject({ status: 404 });
    expect(await alice.chat({ session, keep: 2, content: 'x' })).toMatchObject({ status: 400 });
    expect(await alice.chat({ keep: 0, content: 'x' })).toMatchObject({ status: 400 });
    expect(await alice.sessions()).toHaveLength(1);
  });

  it('that fails is interrupted, and is gone on with when a person says so', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(json(anthropicError('invalid_request_error', 'not today'), { status: 400 }));
    const started = await alice.chat({ model: 'coder', content: 'work' });
    expect(started.status).toBe(202);
    const broken = await alice.over(started.body.session);
    expect(broken).toMatchObject({ running: false, interrupted: true });
    world.steps.push(textAnswer('Now it works.'));
    const resumed = await alice.call<{ session: string }>('POST', `/api/sessions/${broken.id}/resume`);
    expect(resumed).toMatchObject({ status: 202, body: { session: broken.id } });
    expect(await alice.over(broken.id)).toMatchObject({ interrupted: false });
    expect(await alice.texts(broken.id)).toEqual(['user: work', 'assistant: Now it works.']);
    expect(await alice.call('POST', `/api/sessions/${broken.id}/resume`)).toMatchObject({ status: 409 });
  });
});

describe('a fork', () => {
  it('keeps so many turns and says something else there; the old branch stays', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('One.'), textAnswer('Two.'), textAnswer('Three.'));
    const { session } = await alice.say({ content: 'first' });
    await alice.say({ session, content: 'second' });
    await alice.say({ session, content: 'third' });
    world.steps.push(textAnswer('Other.'));
    const edited = await alice.say({ session, keep: 1, content: 'changed' });
    expect(edited).toMatchObject({ how: 'fork' });
    expect(await alice.texts(edited.session)).toEqual([
      'user: first',
      'assistant: One.',
      'user: changed',
      'assistant: Other.',
    ]);
    expect((await alice.session(edited.session)).body).toMatchObject({ parent: session });
    expect(await alice.texts(session)).toHaveLength(6);
    world.steps.push(textAnswer('From the start.'));
    const fresh = await alice.say({ session, keep: 0, content: 'anew' });
    expect(await alice.texts(fresh.session)).toEqual(['user: anew', 'assistant: From the start.']);
  });

  it('without words says again what the turn began with', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(
      callsAnswer(call('LS', { path: world.root }, 'c1')),
      textAnswer('One.'),
      textAnswer('Two.'),
    );
    const { session } = await alice.say({ model: 'coder', content: 'first' });
    await alice.say({ model: 'coder', session, content: 'second' });
    world.steps.push(textAnswer('Better.'));
    const again = await alice.say({ model: 'coder', session, keep: 1, content: '' });
    expect(await alice.texts(again.session)).toEqual([
      'user: first',
      'assistant: One.',
      'user: second',
      'assistant: Better.',
    ]);
    world.steps.push(textAnswer('From the first.'));
    const first = await alice.say({ model: 'coder', session, keep: 0, content: '' });
    expect(await alice.texts(first.session)).toEqual(['user: first', 'assistant: From the first.']);
  });

  it('parts also in the middle of what was imported', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('One.'), textAnswer('Two.'), textAnswer('Agent.'));
    const { session } = await alice.say({ content: 'first' });
    await alice.say({ session, content: 'second' });
    const agent = await alice.say({ model: 'coder', session, content: 'third' });
    world.steps.push(textAnswer('Parted.'), textAnswer('On.'));
    const fork = await alice.say({ model: 'coder', session: agent.session, keep: 1, content: 'changed' });
    expect(fork.how).toBe('fork');
    expect(await alice.texts(fork.session)).toEqual([
      'user: first',
      'assistant: One.',
      'user: changed',
      'assistant: Parted.',
    ]);
    await alice.say({ model: 'coder', session: fork.session, content: 'go on' });
    expect(await alice.texts(fork.session)).toHaveLength(6);
    const roles = world.told(world.upstream.requests.length - 1).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  });

  it('with another model carries over only what is kept', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push(textAnswer('One.'), textAnswer('Two.'));
    const { session } = await alice.say({ content: 'first' });
    await alice.say({ session, content: 'second' });
    world.steps.push(textAnswer('Agent.'));
    const agent = await alice.say({ model: 'coder', session, keep: 1, content: '' });
    expect(agent.how).toBe('import');
    expect(await alice.texts(agent.session)).toEqual([
      'user: first',
      'assistant: One.',
      'user: second',
      'assistant: Agent.',
    ]);
  });
});

describe('stop', () => {
  it('ends a turn in the middle of a tool call, keeps what was done, and is gone on from by saying something', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    world.steps.push({
      parts: [
        { type: 'text', text: 'Running it.' },
        call('Bash', { command: 'echo $$ > pid; sleep 300; touch made', description: 'x' }, 'c1'),
      ],
    });
    const { body } = await alice.chat({ model: 'coder', content: 'run' });
    for (;;) {
      const { body: now } = await alice.session(body.session);
      if (now.messages.length > 1) break;
    }
    const stopped = await world.person('root').call('POST', `/api/sessions/${body.session}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { stopped: true } });
    const after = await alice.over(body.session);
    expect(after).toMatchObject({ running: false, interrupted: false });
    expect(after.messages.flatMap(({ content }) => content.map(({ type }) => type))).toContain('tool_use');
    expect(await alice.call('POST', `/api/sessions/${body.session}/resume`)).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('was stopped') } },
    });
    world.steps.push(textAnswer('All right.'));
    await alice.say({ model: 'coder', session: body.session, content: 'never mind' });
    expect((await alice.texts(body.session)).at(-1)).toBe('assistant: All right.');
  });

  it('calls off the question that the turn waits for', async () => {
    const world = await openChatWorld({ rest: { permissions: { mode: 'ask', unattended: 'wait' } } });
    const alice = world.person('alice');
    world.steps.push(callsAnswer(call('Bash', { command: 'touch made', description: 'x' }, 'c1')));
    const { body } = await alice.chat({ model: 'coder', content: 'run' });
    const question = await alice.question();
    expect((await alice.session(body.session)).body).toMatchObject({ running: true, pending_approvals: 1 });
    await alice.call('POST', `/api/sessions/${body.session}/stop`);
    const { body: approval } = await alice.call<{ state: string }>('GET', `/api/approvals/${question.id}`);
    expect(approval.state).toBe('cancelled');
    expect((await alice.sessions())[0]).toMatchObject({ running: false, pending_approvals: 0 });
  });

  it('ends a turn of a client of /v1 as well, which only that client can go on with', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const held = gate();
    world.steps.push(async () => {
      await held.pass();
      return textAnswer('Too late.');
    });
    const body = { model: 'coder', max_tokens: 100, messages: [{ role: 'user', content: 'from outside' }] };
    const asking = alice.fetch('POST', '/v1/messages', body);
    await held.reached;
    const [session] = await alice.sessions();
    expect(session).toMatchObject({ running: true });
    await alice.call('POST', `/api/sessions/${session?.id}/stop`);
    held.open();
    const answer = await asking;
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('was stopped by alice');
  });
});

describe('a turn of a client of /v1 that broke off', () => {
  it('is interrupted, and is refused here', async () => {
    const world = await openChatWorld();
    const alice = world.person('alice');
    const leave = new AbortController();
    const held = gate();
    world.steps.push(callsAnswer(call('LS', { path: world.root }, 'c1')), async () => {
      await held.pass();
      return textAnswer('Nobody hears it.');
    });
    const body = {
      model: 'coder',
      max_tokens: 100,
      stream: true,
      messages: [{ role: 'user', content: 'outside' }],
    };
    const asking = alice.fetch('POST', '/v1/messages', body, leave.signal).catch(() => undefined);
    await held.reached;
    leave.abort();
    await asking;
    // An answer that is written whole before the gateway knows that nobody hears it counts as heard.
    await until(async () => (await (await alice.fetch('GET', '/metrics')).text()).includes('status="499"'));
    held.open();
    for (;;) {
      const [session] = await alice.sessions();
      if (session?.running === false) {
        expect(session).toMatchObject({ interrupted: true });
        const refused = await alice.call('POST', `/api/sessions/${session.id}/resume`);
        expect(refused).toMatchObject({
          status: 409,
          body: { error: { message: expect.stringContaining('only that client') } },
        });
        return;
      }
    }
  });
});
