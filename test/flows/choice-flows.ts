/** What the client and the operator choose: which tools, and how far an answer goes. */
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { callsAnswer, textAnswer } from '../support/wire.js';
import type { ToolSpec } from './clients/thread.js';
import {
  choiceIn,
  expectCalls,
  expectText,
  failureOf,
  firstOf,
  lines,
  type ProtocolFlow,
  resultsFor,
  sendsAll,
  squeezed,
} from './protocol.js';
import { WEATHER } from './tools.js';

const TOOLS = [WEATHER];

/** A client that names a built-in, with a schema of its own. */
const named = (name: string): ToolSpec => ({
  name,
  description: 'Not what the server has',
  schema: { type: 'object', properties: { anything: { type: 'string' } } },
});

export const CHOICE_FLOWS: readonly ProtocolFlow[] = [
  {
    name: 'tool_choice: any holds for the first model call',
    async run(flow) {
      const turn = flow.play('Use something.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        textAnswer('Used.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS, choice: 'any' });
      expectCalls(answer, 'get_weather');
      expect(choiceIn(firstOf(turn).seen)).toBe('any');
      expectText(await thread.echo().results(resultsFor(answer, 'a')).send({ tools: TOOLS }), 'Used.');
      expect([undefined, 'auto']).toContainEqual(choiceIn(turn.requests[1]?.seen ?? firstOf(turn).seen));
    },
  },
  {
    name: 'tool_choice: a client tool is forced, once',
    async run(flow) {
      await writeFile(flow.path('notes.txt'), 'the secret is 42\n');
      const turn = flow.play('Use that one.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        callsAnswer(flow.call('Read', { file_path: flow.path('notes.txt') })),
        textAnswer('Used.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const choice = { tool: 'get_weather' };
      const answer = await thread.send({ tools: TOOLS, choice });
      expectCalls(answer, 'get_weather');
      expect(choiceIn(firstOf(turn).seen)).toEqual(choice);
      expectText(await thread.echo().results(resultsFor(answer, 'a')).send({ tools: TOOLS }), 'Used.');
      for (const { seen } of turn.requests.slice(1))
        expect([undefined, 'auto']).toContainEqual(choiceIn(seen));
    },
  },
  {
    name: 'tool_choice: a built-in is forced, once, and runs on the server',
    async run(flow) {
      await writeFile(flow.path('notes.txt'), 'the secret is 42\n');
      const turn = flow.play('Use that one.', [
        callsAnswer(flow.call('Read', { file_path: flow.path('notes.txt') })),
        textAnswer('Used.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      // Some wires only take a choice of what the request has.
      const choice = { tool: 'Read' };
      expectText(await thread.send({ tools: [named('Read'), WEATHER], choice }), 'Used.');
      expect(choiceIn(firstOf(turn).seen)).toEqual(choice);
      for (const { seen } of turn.requests.slice(1))
        expect([undefined, 'auto']).toContainEqual(choiceIn(seen));
    },
  },
  {
    name: 'tool_choice: none calls nothing',
    async run(flow) {
      const turn = flow.play('Just talk.', [textAnswer('Talking.')]);
      const thread = flow.thread().user(turn.prompt);
      expectText(await thread.send({ tools: TOOLS, choice: 'none' }), 'Talking.');
      expect(choiceIn(firstOf(turn).seen)).toBe('none');
    },
  },
  {
    name: 'tool_choice: auto is nothing special',
    async run(flow) {
      const turn = flow.play('As you like.', [textAnswer('I like.')]);
      const thread = flow.thread().user(turn.prompt);
      expectText(await thread.send({ tools: TOOLS, choice: 'auto' }), 'I like.');
      expect([undefined, 'auto']).toContainEqual(choiceIn(firstOf(turn).seen));
    },
  },
  {
    name: 'tool_choice: a tool that nobody offers is a 400 that names it',
    async run(flow) {
      const sent = flow
        .thread()
        .user('hello')
        .send({ tools: TOOLS, choice: { tool: 'no_such_tool' } });
      const { status, message } = await failureOf(flow, sent);
      expect(status).toBe(400);
      expect(message).toContain('no_such_tool');
    },
  },
  {
    name: 'a client tool with the name of a built-in means the built-in',
    async run(flow) {
      await writeFile(flow.path('notes.txt'), 'the secret is 42\n');
      const turn = flow.play('Read and ask.', [
        callsAnswer(
          flow.call('Read', { file_path: flow.path('notes.txt') }),
          flow.call('get_weather', { city: 'A' }),
        ),
        textAnswer('Both.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const tools = [named('Read'), WEATHER];
      const answer = await thread.send({ tools });
      expectCalls(answer, 'get_weather');
      expectText(await thread.echo().results(resultsFor(answer, 'a')).send({ tools }), 'Both.');
      expect(lines(turn).join('\n')).toContain('the secret is 42');
      const { seen, tools: offered } = firstOf(turn);
      expect(offered.filter((name) => name === 'Read')).toHaveLength(1);
      expect(JSON.stringify(seen.body['tools'])).not.toContain('Not what the server has');
    },
  },
  {
    name: 'an operator who offers what the request names offers nothing else',
    async run(flow) {
      await writeFile(flow.path('notes.txt'), 'the secret is 42\n');
      const turn = flow.play('Read and ask.', [
        callsAnswer(
          flow.call('Read', { file_path: flow.path('notes.txt') }),
          flow.call('get_weather', { city: 'A' }),
        ),
        textAnswer('Both.'),
      ]);
      const thread = flow.thread({ agent: 'requested' }).user(turn.prompt);
      const tools = [named('Read'), WEATHER];
      const answer = await thread.send({ tools });
      expectCalls(answer, 'get_weather');
      expectText(await thread.echo().results(resultsFor(answer, 'a')).send({ tools }), 'Both.');
      expect(lines(turn).join('\n')).toContain('the secret is 42');
      const { tools: offered } = firstOf(turn);
      expect(offered).toEqual(expect.arrayContaining(['Read', 'get_weather']));
      for (const name of ['Bash', 'Write', 'Edit', 'Task']) expect(offered).not.toContain(name);
    },
  },
  {
    name: 'max_turns pauses, and the same conversation goes on',
    clients: sendsAll,
    async run(flow) {
      const turn = flow.play('A long task.', [
        ...['First.', 'Second.'].map((text) => ({
          parts: [
            { type: 'text' as const, text },
            flow.call('Bash', { command: `echo once >> ${flow.path('log')}`, description: 'Write' }),
          ],
        })),
        textAnswer('Done.'),
      ]);
      const thread = flow.thread({ agent: 'short' }).user(turn.prompt);
      const paused = await thread.send({ tools: TOOLS });
      expect(squeezed(paused.text)).toBe('First.Second.');
      expect(paused.calls).toEqual([]);
      expect(paused.stop).toBe('pause');
      const { route } = flow.client;
      if (route === 'anthropic-messages') expect(paused.wireStop).toBe('pause_turn');
      if (route === 'openai-chat') expect(paused.wireStop).toBe('length');
      expect(turn.requests).toHaveLength(2);
      const end = await thread.echo().send({ tools: TOOLS });
      expectText(end, 'Done.');
      expect(end).toMatchObject({ session: paused.session, attach: 'continue' });
      expect(lines(turn).filter((line) => line.startsWith('result of Bash'))).toHaveLength(2);
    },
  },
  {
    name: 'max_turns pauses, and the user says something',
    async run(flow) {
      const turn = flow.play('A long task.', [
        ...['First.', 'Second.'].map((text) => ({
          parts: [
            { type: 'text' as const, text },
            flow.call('Bash', { command: 'echo once', description: 'Say' }),
          ],
        })),
      ]);
      const second = flow.play('Hurry up.', [textAnswer('Hurrying.')]);
      const thread = flow.thread({ agent: 'short' }).user(turn.prompt);
      const paused = await thread.send({ tools: TOOLS });
      expect(paused.stop).toBe('pause');
      const end = await thread.echo().user(second.prompt).send({ tools: TOOLS });
      expectText(end, 'Hurrying.');
      expect(end).toMatchObject({ session: paused.session, attach: 'continue' });
      expect(lines(second)).toEqual([
        expect.stringContaining(turn.prompt),
        'assistant: First.',
        expect.stringMatching(/^call Bash/),
        'result of Bash: once',
        'assistant: Second.',
        expect.stringMatching(/^call Bash/),
        'result of Bash: once',
        expect.stringContaining(second.prompt),
      ]);
    },
  },
  {
    name: 'what the server did is shown to those who ask, and the answer is the same',
    async run(flow) {
      const turn = flow.play('Work and ask.', [
        {
          parts: [
            { type: 'text', text: 'Working.' },
            flow.call('Bash', { command: 'echo once', description: 'Say' }),
          ],
        },
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        textAnswer('Asked.'),
      ]);
      const headers = { 'x-toolgate-events': '1' };
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS, headers });
      expect(squeezed(answer.text)).toBe('Working.');
      expectCalls(answer, 'get_weather');
      const end = await thread.echo().results(resultsFor(answer, 'a')).send({ tools: TOOLS, headers });
      expectText(end, 'Asked.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
    },
  },
];
