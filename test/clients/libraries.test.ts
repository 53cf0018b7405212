import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONG, TIMEOUT_MS } from '../faults/counts.js';
import { tempFolder } from '../support/cleanup.js';
import type { AnswerReply } from '../support/replies.js';
import { inDialect } from '../support/scripted-answers.js';
import { call } from '../support/wire.js';
import { LANES, type Lane, openGateway } from './lanes.js';
import { DIALECT_OF, LIBRARIES, type Library, type Provider, startApp } from './libraries.js';
import { resultsOf } from './read-request.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

const weather = (id: string) => call('weather', { city: 'Oslo' }, id);

/** Every library with every provider of it; a sample has each provider once a library, streamed or not in turn. */
const APPS = LIBRARIES.flatMap((library) =>
  library.providers.flatMap((provider, index) =>
    (LONG ? [true, false] : [index % 2 === 0]).map((stream) => ({ library, provider, stream })),
  ),
).map((app) => ({ ...app, title: `${app.library.name} on ${DIALECT_OF[app.provider]}` }));

interface App {
  library: Library;
  provider: Provider;
  stream: boolean;
}

/** What it printed for each prompt. */
async function answersOf({ library, provider, stream }: App, lane: Lane, prompts: readonly string[]) {
  const workspace = await makeWorkspace();
  const model = 'agent';
  const app = await startApp(library, { lane, workspace, provider, model, prompts, stream });
  const code = await app.exited;
  expect(code, app.report()).toBe(0);
  return app.events;
}

describe.each(APPS)('$title', (app) => {
  const own = DIALECT_OF[app.provider];
  const others = LANES.filter((dialect) => dialect !== own);

  it.each(LONG ? others : others.slice(0, 1))(
    'calls its tool and goes on with the conversation, on a model of %s',
    async (dialect) => {
      const lane = await openGateway(
        dialect,
        {
          'How is the weather': [use([weather('call_1')], 'I look.'), say('Sunny.')],
          'And tomorrow': [say('The same.')],
        },
        { agent: { upstream: 'scripted' } },
      );
      const answers = await answersOf(app, lane, ['How is the weather?', 'And tomorrow?']);
      expect(lane.model.problems).toEqual([]);
      expect(answers).toMatchObject([{ text: 'Sunny.' }, { text: 'The same.' }]);
      // Nothing of the first turn was lost on the way into the second.
      const [second] = lane.model.requestsOf('And tomorrow');
      expect(second && resultsOf(second)).toMatchObject([{ text: 'Sunny in Oslo' }]);
      expect(JSON.stringify(second?.turns)).toContain('I look.');
    },
    TIMEOUT_MS,
  );

  it(
    'has its tool called by an agent beside tools of the server, and continues the session',
    async () => {
      const { path: cwd } = await tempFolder('toolgate-server');
      await writeFile(join(cwd, 'server.txt'), 'only on the server: 4711\n');
      const lane = await openGateway(
        'openai-chat',
        {
          'Look it up': [
            use([call('Grep', { pattern: '4711', output_mode: 'content' }, 'call_server')]),
            use([weather('call_client')], 'I look.'),
            say('Sunny.'),
          ],
          'And again': [say('Still sunny.')],
        },
        { agent: { engine: 'native', upstream: 'scripted', tools: ['Grep'], cwd } },
        { config: { permissions: { allow: ['Grep'] } } },
      );
      const answers = await answersOf(app, lane, ['Look it up', 'And again']);
      expect(lane.model.problems).toEqual([]);
      expect(answers).toMatchObject([{ text: 'Sunny.' }, { text: 'Still sunny.' }]);
      expect(JSON.stringify(answers)).not.toContain('only on the server');
      const [second] = lane.model.requestsOf('And again');
      expect(second && resultsOf(second).map(({ id }) => id)).toEqual(['call_server', 'call_client']);
    },
    TIMEOUT_MS,
  );

  it(
    'says that an answer broke off, and does not take the half for the whole',
    async () => {
      const [dialect = 'openai-chat'] = others;
      const lane = await openGateway(
        dialect,
        {
          'Tell me': [
            async ({ recorded }) => {
              const reply = await inDialect(say('Half of a long answer that never ends'))(recorded, 0);
              if (reply.kind !== 'answer') return reply;
              return { ...reply, body: reply.body.slice(0, 6), end: 'truncate' } satisfies AnswerReply;
            },
          ],
        },
        { agent: { upstream: 'scripted' } },
      );
      const answers = await answersOf({ ...app, stream: true }, lane, ['Tell me']);
      expect(answers).toMatchObject([{ type: 'failed' }]);
    },
    TIMEOUT_MS,
  );
});
