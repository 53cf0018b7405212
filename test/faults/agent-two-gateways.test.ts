/** Two gateways on one store: whichever a client comes to, a session is run by one of them at a time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { AgentBed, ENGINES, KEYS, MODEL } from './agent-bed.js';
import { CLIENTS, type Line, type Reply, resultOf, results, said, user } from './agent-client.js';
import { bash, HeldStep, lookup, says, words } from './agent-script.js';
import { TIMEOUT_MS } from './counts.js';
import { inTime } from './fault-gateway.js';

const [client] = CLIENTS;
const FINAL = 'It was asked of two and answered by one.';

const STORES = ['SQLite', 'PostgreSQL'] as const;
/** Claude Code, whose processes take seconds, writes through the same sessions: one store shows it. */
const cases = ENGINES.flatMap((engine) =>
  STORES.filter((store) => store === 'SQLite' || engine === 'native').map((store) => ({ engine, store })),
);

describe.each(cases)('$engine on two gateways with $store', ({ engine, store }) => {
  let server: TestPostgres | undefined;
  beforeAll(async () => {
    if (store === 'PostgreSQL') server = await startPostgres();
  });
  afterAll(() => server?.close());

  const start = async (): Promise<AgentBed> =>
    AgentBed.start(engine, server === undefined ? {} : { store: server.url(await server.create()) });

  const ask = (url: string, lines: readonly Line[], headers: Record<string, string> = {}): Promise<Reply> =>
    inTime(client.ask({ url, key: KEYS.storm, model: MODEL, lines, headers }), JSON.stringify(lines.at(-1)));

  const settled = (reply: Promise<Reply>) =>
    reply.then(
      (value) => ({ value }),
      (error: unknown) => ({ status: error instanceof Error && 'status' in error ? error.status : error }),
    );

  it('results that come to both are used by one', { timeout: TIMEOUT_MS }, async () => {
    const bed = await start();
    const other = await bed.another();
    const held = new HeldStep(words(FINAL), 'half');
    const turn = bed.model.play('Two.', [
      says('', bash('two_x', 'echo ran >> two_x.txt'), lookup('two_a')),
      held.held,
    ]);
    const first = await ask(bed.url, [user('Two.')]);
    const lines = [user('Two.'), said(first), results(first.calls.map(resultOf))];
    const here = settled(ask(bed.url, lines));
    await inTime(held.gate.reached, 'the model is asked');
    const there = settled(ask(other.url, lines));
    const different = settled(
      ask(other.url, [user('Something else meanwhile.')], { 'x-session-id': first.session }),
    );
    // While one process has the session, the other says so and keeps nobody waiting.
    expect(await Promise.all([there, different])).toEqual([{ status: 409 }, { status: 409 }]);
    held.gate.open();
    expect(await here).toMatchObject({ value: { text: FINAL, session: first.session } });
    expect(await ask(other.url, lines)).toMatchObject({ text: FINAL, session: first.session });
    expect(turn.requests).toHaveLength(2);
    expect(await bed.linesOf('two_x.txt')).toEqual(['ran']);
    await other.close();
    await bed.close();
  });

  it('a session of one that was killed is taken over at once', { timeout: TIMEOUT_MS }, async () => {
    const bed = await start();
    const other = await bed.another();
    const held = new HeldStep(words(FINAL), 'half');
    const turn = bed.model.play('Over.', [
      says('', bash('over_x', 'echo ran >> over_x.txt'), lookup('over_a')),
      held.steps,
    ]);
    const first = await ask(bed.url, [user('Over.')]);
    const lines = [user('Over.'), said(first), results(first.calls.map(resultOf))];
    const here = settled(ask(bed.url, lines));
    await inTime(held.gate.reached, 'the model is asked');
    await bed.kill();
    await here;
    expect(await ask(other.url, lines)).toMatchObject({ text: FINAL, session: first.session });
    expect(turn.requests).toHaveLength(2 + 1);
    expect(await bed.linesOf('over_x.txt')).toEqual(['ran']);
    expect(bed.model.problems).toEqual([]);
    await other.close();
    await bed.nothingLeft();
  });

  it('both go on with sessions of the other', { timeout: TIMEOUT_MS }, async () => {
    const bed = await start();
    const other = await bed.another();
    const urls = [bed.url, other.url];
    const prompt = 'Back and forth.';
    const rounds = 4;
    bed.model.play(prompt, [
      ...Array.from({ length: rounds }, (_, index) => says(`Round ${index}. `, lookup(`forth_${index}`))),
      words(FINAL),
    ]);
    let lines: Line[] = [user(prompt)];
    const sessions = new Set<string>();
    for (let round = 0; round <= rounds; round += 1) {
      const reply = await ask(urls[round % 2] ?? '', lines);
      sessions.add(reply.session);
      lines = [...lines, said(reply), results(reply.calls.map(resultOf))];
    }
    expect(sessions.size).toBe(1);
    expect(lines.at(-2)).toMatchObject({ reply: { text: FINAL } });
    expect(bed.model.problems).toEqual([]);
    await other.close();
    await bed.close();
  });
});
