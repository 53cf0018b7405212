/**
 * The client goes away at every moment of a conversation and comes back with the same request: while
 * the turn still runs, and after the gateway has ended it. Nothing is lost and nothing done twice.
 */
import { describe, expect, it } from 'vitest';
import { AgentBed, ENGINES } from './agent-bed.js';
import { CLIENTS } from './agent-client.js';
import { MOMENTS } from './agent-moments.js';
import { checkTalk, Talker } from './agent-talk.js';
import { LONG, TIMEOUT_MS } from './counts.js';

const COMES_BACK = ['at once', 'when the turn has ended'] as const;

const DURING = MOMENTS.filter(({ when, killsOnly }) => when === 'during' && killsOnly !== true);

/** In a sample one way back for each moment, and every fourth moment with Claude Code. */
const cases = ENGINES.flatMap((engine, shift) =>
  DURING.filter((_, index) => LONG || engine === 'native' || index % 4 === 0).flatMap((moment, index) =>
    COMES_BACK.filter((_, way) => LONG || way === index % 2).flatMap((back, way) =>
      CLIENTS.filter((_, client) => LONG || client === (index + shift + way + 1) % CLIENTS.length).map(
        (client) => ({
          engine,
          moment,
          client,
          back,
          title: `${engine}, ${moment.name}, and comes back ${back} (${client.name})`,
        }),
      ),
    ),
  ),
);

describe('a client that leaves', () => {
  for (const { engine, moment, client, back, title } of cases)
    it(title, { timeout: TIMEOUT_MS }, async () => {
      const bed = await AgentBed.start(engine, { permissions: moment.permissions ?? { mode: 'allow' } });
      const [calm] = await Promise.all([
        new Talker(bed, client, moment, 'calm').talk(),
        moment.permissions && bed.allowNext('calm'),
      ]);
      const talker = new Talker(bed, client, moment, 'storm', true);
      const talk = await talker.talk(async (leave) => {
        leave();
        if (back === 'when the turn has ended') await bed.idle();
      });
      await checkTalk(bed, talk, calm);

      const asked = talk.turn.requests.length;
      const again = await talker.ask(talk.last, { headers: talk.headers });
      expect(again).toMatchObject({ text: talk.texts.at(-1), calls: [], attach: 'continue' });
      expect(talk.turn.requests.length).toBe(asked);
      await bed.close();
    });
});
