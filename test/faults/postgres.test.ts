/**
 * A gateway as a process on a real PostgreSQL server: both are killed in the middle of conversations,
 * and the server alone goes away and comes back.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand, startGatewayProcess } from '../support/gateway.js';
import { PASSWORD, startPostgres, type TestPostgres } from '../support/postgres.js';
import { until } from '../support/until.js';
import { AgentBed, KEYS } from './agent-bed.js';
import { CLIENTS } from './agent-client.js';
import { MOMENTS } from './agent-moments.js';
import { checkTalk, Talker } from './agent-talk.js';
import { LONG, TIMEOUT_MS } from './counts.js';

let server: TestPostgres;
let store = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  store = server.url(await server.create());
});

async function crash(): Promise<void> {
  await server.stop('immediate');
  await server.start();
}

const isReady = async (url: string) => (await fetch(`${url}/readyz`)).status === 200;

/** In a sample one of each kind: in the middle of a message, with a question that waits, parked, between results. */
const cases = MOMENTS.map((moment, index) => ({ moment, client: CLIENTS[index % CLIENTS.length] })).filter(
  ({ moment }, index) =>
    LONG || index === 0 || index === 2 || moment === MOMENTS.find(({ permissions }) => permissions),
);

describe('a conversation on PostgreSQL', () => {
  for (const { moment, client } of cases)
    it(`goes on after both are killed: ${moment.name} (${client?.name})`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      if (client === undefined) throw new Error('There are no clients.');
      const bed = await AgentBed.start('native', {
        store,
        permissions: moment.permissions ?? { mode: 'allow' },
      });
      const undisturbed = new Talker(bed, client, moment, 'calm');
      const [calm] = await Promise.all([undisturbed.talk(), moment.permissions && bed.allowNext('calm')]);
      await checkTalk(bed, calm, calm);
      const talker = new Talker(bed, client, moment, 'storm');
      const talk = await talker.talk(async () => {
        await bed.kill();
        await crash();
        await bed.restart();
        await bed.nothingLeft();
      });
      await talk.played.letGo();
      await checkTalk(bed, talk, calm);
      const again = await talker.ask(talk.last, { headers: talk.headers });
      expect(again).toMatchObject({ text: talk.texts.at(-1), calls: [], attach: 'continue' });
      await checkTalk(bed, talk, calm);
      await bed.close();
    });

  it('goes on when the server alone crashed while its calls were with the client', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [moment, client] = [MOMENTS.find(({ when }) => when === 'after'), CLIENTS[0]];
    if (moment === undefined || client === undefined) throw new Error('There is no such moment.');
    const bed = await AgentBed.start('native', { store });
    const calm = await new Talker(bed, client, moment, 'calm').talk();
    const talk = await new Talker(bed, client, moment, 'storm').talk(async () => {
      await crash();
      await until(() => isReady(bed.url));
    });
    await checkTalk(bed, talk, calm);
    await bed.close();
  });
});

it('while PostgreSQL is away relays answer, agents say 503 with retry-after, and /readyz is 503', async () => {
  const gateway = await startGatewayProcess({
    config: {
      store,
      server: { keys: [{ key: KEYS.storm, name: 'storm' }] },
      models: { plain: { upstream: 'demo' }, agent: { engine: 'native', upstream: 'demo' } },
    },
  });
  const ask = async (model: string) => {
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.storm}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 999, messages: [{ role: 'user', content: 'Hello.' }] }),
    });
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, text: await answer.text(), retryAfter };
  };
  const probe = async (path: string) => (await fetch(gateway.url + path)).status;
  try {
    await server.stop('fast');
    expect(await ask('plain')).toMatchObject({ status: 200, text: expect.stringContaining('"end_turn"') });
    expect(await ask('agent')).toEqual({
      status: 503,
      text: expect.stringMatching(/The store of the gateway cannot be used: (?!.*127\.0\.0\.1)/),
      retryAfter: '5',
    });
    expect([await probe('/readyz'), await probe('/healthz')]).toEqual([503, 200]);
  } finally {
    await server.start();
  }
  await until(() => isReady(gateway.url));
  expect(await ask('agent')).toMatchObject({ status: 200 });
  await gateway.close();
});

describe('the command', () => {
  it('says what is wrong with the database and exits with 1, without the password', async () => {
    const wrong = { store: server.url('postgres', 'toolgate', 'hunter%2022') };
    const run = await runCommand({ config: wrong });
    expect((await run.exited).code).toBe(1);
    const said = run.stderr + run.stdout;
    expect(said).toMatch(/postgres at 127\.0\.0\.1:\d+ cannot be used: the user or the password is refused/);
    for (const secret of ['hunter%2022', 'hunter 22']) expect(said).not.toContain(secret);
  });

  it('doctor shows the database and its host, and nothing of who signs in', async () => {
    const gateway = await startGatewayProcess({ config: { store } });
    await gateway.close();
    const run = await runCommand({ folder: gateway.folder, args: ['doctor', '--config', 'toolgate.yaml'] });
    await run.exited;
    expect(run.stdout).toMatch(/PostgreSQL database t\d+ at 127\.0\.0\.1:\d+, .*schema \d+/);
    for (const secret of [PASSWORD, decodeURIComponent(PASSWORD)]) {
      expect(run.stdout + run.stderr + gateway.stderr).not.toContain(secret);
    }
  });
});
