/**
 * The gateway is killed at every moment of a conversation and started again; the client repeats its
 * request or goes on. Whatever the moment, every result is used once, nothing that changes something
 * runs twice, and the answers are those of a conversation that nobody disturbed.
 */
import { describe, expect, it } from 'vitest';
import { AgentBed, ENGINES } from './agent-bed.js';
import { CLIENTS } from './agent-client.js';
import { MOMENTS } from './agent-moments.js';
import { checkTalk, Talker } from './agent-talk.js';
import { LONG, TIMEOUT_MS } from './counts.js';

/**
 * In a sample every moment has one client, each of them in turn, and Claude Code, whose processes
 * take seconds, every fourth moment; in the long run all of them.
 */
const cases = ENGINES.flatMap((engine, shift) =>
  MOMENTS.filter((_, index) => LONG || engine === 'native' || index % 4 === 0).flatMap((moment, index) =>
    CLIENTS.filter((_, client) => LONG || client === (index + shift) % CLIENTS.length).map((client) => ({
      engine,
      moment,
      client,
      title: `${engine}, ${moment.name} (${client.name})`,
    })),
  ),
);

describe('kill -9 of the gateway', () => {
  for (const { engine, moment, client, title } of cases)
    it(title, { timeout: TIMEOUT_MS }, async () => {
      const bed = await AgentBed.start(engine, { permissions: moment.permissions ?? { mode: 'allow' } });
      const undisturbed = new Talker(bed, client, moment, 'calm');
      const [calm] = await Promise.all([undisturbed.talk(), moment.permissions && bed.allowNext('calm')]);
      await checkTalk(bed, calm, calm);

      const talker = new Talker(bed, client, moment, 'storm');
      const talk = await talker.talk(async () => {
        await bed.kill();
        await bed.restart();
        await bed.nothingLeft();
      });
      await talk.played.letGo();
      await checkTalk(bed, talk, calm);

      const asked = talk.turn.requests.length;
      const again = await talker.ask(talk.last, { headers: talk.headers });
      expect(again).toMatchObject({ text: talk.texts.at(-1), calls: [], attach: 'continue' });
      expect(talk.turn.requests.length).toBe(asked);
      await checkTalk(bed, talk, calm);
      await bed.close();
    });
});
