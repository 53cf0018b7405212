import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TIMEOUT_MS } from '../faults/counts.js';
import { tempFolder } from '../support/cleanup.js';
import { call } from '../support/wire.js';
import type { ClientProcess } from './client-process.js';
import { CODING_PROGRAMS, type CodingProgram, type CodingRun } from './coding-programs.js';
import { type Lane, openGateway } from './lanes.js';
import { resultsOf, type SeenRequest } from './read-request.js';
import { type Aside, say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

const asideOf =
  (program: CodingProgram): Aside =>
  ({ instructions }: SeenRequest) =>
    program.isAside?.(instructions) === true ? say('A title') : undefined;

/** Runs it to its end, which must be a good one. */
async function ended(program: CodingProgram, run: CodingRun): Promise<ClientProcess> {
  const { lane } = run;
  const client = program.start(run);
  const code = await client.exited;
  expect(lane.model.problems, client.report()).toEqual([]);
  expect(code, client.report()).toBe(0);
  return client;
}

const resultsIn = (lane: Lane, conversation: string) =>
  lane.model
    .requestsOf(conversation)
    .flatMap(resultsOf)
    .map(({ id }) => id);

describe.each(CODING_PROGRAMS.map((program) => [program.name, program] as const))('%s', (_, program) => {
  it(
    'writes a file and runs a command on a model of another wire',
    async () => {
      const workspace = await makeWorkspace({ 'greeting.txt': 'hello world\n' });
      const other = program.dialect === 'openai-chat' ? 'anthropic-messages' : 'openai-chat';
      const lane = await openGateway(
        other,
        {
          'Make a note': [
            use([program.write('call_write', workspace.at('note.txt'), '你好\n')], 'I write it.'),
            use([program.run('call_run', 'cat greeting.txt note.txt > both.txt')]),
            say('Noted.'),
          ],
        },
        { model: { upstream: 'scripted' } },
        { aside: asideOf(program) },
      );
      const run = { lane, workspace, model: 'model', prompt: 'Make a note' };
      await program.setUp(run);
      const client = await ended(program, run);
      expect(program.lastWords(client), client.report()).toBe('Noted.');
      expect(await workspace.read('both.txt')).toBe('hello world\n你好\n');
      expect(lane.model.left).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'keeps its own tools beside those of an agent, and comes back to the same session',
    async () => {
      const workspace = await makeWorkspace();
      const { path: cwd } = await tempFolder('toolgate-server');
      await writeFile(join(cwd, 'server.txt'), 'only on the server: 4711\n');
      const lane = await openGateway(
        'openai-chat',
        {
          'Look it up': [
            use([call('Grep', { pattern: '4711', output_mode: 'content' }, 'call_server')]),
            use([program.write('call_client', workspace.at('found.txt'), '4711\n')]),
            say('It is 4711.'),
          ],
          ...(program.resumesInTerminalOnly === true ? {} : { 'And again': [say('Still 4711.')] }),
        },
        { agent: { engine: 'native', upstream: 'scripted', tools: ['Grep'], cwd } },
        { aside: asideOf(program), config: { permissions: { allow: ['Grep'] } } },
      );
      const run = { lane, workspace, model: 'agent', prompt: 'Look it up' };
      await program.setUp(run);
      const first = await ended(program, run);
      expect(program.lastWords(first), first.report()).toBe('It is 4711.');
      expect(await workspace.read('found.txt')).toBe('4711\n');
      // What ran on the server is not the client's to see.
      expect(JSON.stringify(first.events) + first.words.join()).not.toContain('only on the server');

      expect(resultsIn(lane, 'Look it up').at(0)).toBe('call_server');
      if (program.resumesInTerminalOnly === true) return;
      const second = await ended(program, { ...run, prompt: 'And again', goOn: true });
      expect(program.lastWords(second), second.report()).toBe('Still 4711.');
      const known = program.rewritesHistory === true ? ['call_client'] : ['call_server', 'call_client'];
      expect(resultsIn(lane, 'And again')).toEqual(known);
      expect(lane.model.left).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
