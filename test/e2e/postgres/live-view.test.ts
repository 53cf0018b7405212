/** A page on one node shows what runs on another. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ActivityWire } from '../../../src/activity/wire.js';
import type { ConsoleEvent } from '../../../src/server/console-api/wire/events.js';
import { bash, HeldStep, says, words } from '../../faults/agent-script.js';
import { EventReader } from '../../support/event-reader.js';
import { isChunk } from '../../support/event-world.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { api, begin, KEYS, startNodes, type TestNode, user, whole } from './nodes-harness.js';

let server: TestPostgres;
let store = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  store = server.url(await server.create());
});

const FINAL = 'All of it was said once, and in order.';

const open = ({ gateway }: TestNode, key: keyof typeof KEYS = 'storm', lastId?: string) =>
  EventReader.open(gateway.url, { key: KEYS[key], ...(lastId !== undefined && { lastId }) });

const isEnded = (event: ConsoleEvent) => event.type === 'turn' && event.state === 'ended';
const isBegun = (event: ConsoleEvent) => event.type === 'turn' && event.state === 'began';

/** What a page has been shown of turns: by its last snapshot, and what came after. */
function chunksOf({ events }: EventReader): ActivityWire[] {
  const first = events.findLastIndex(({ type }) => type === 'snapshot');
  return events
    .slice(first)
    .flatMap((event) =>
      event.type === 'snapshot' ? event.turns.flatMap(({ chunks }) => chunks) : isChunk(event) ? [event] : [],
    );
}

const textOf = (page: EventReader): string =>
  chunksOf(page)
    .map((chunk) => (chunk.type === 'text' ? chunk.text : ''))
    .join('');

/** A turn that runs is on the page, however it came there. */
const isShown = (event: ConsoleEvent) =>
  isBegun(event) || (event.type === 'snapshot' && event.turns.length > 0);

const askedIn = ({ wire }: TestNode) => wire.seen.split('GET /api/node/events').length - 1;

/** A turn of the key on that node, held in the middle of what it says. */
async function heldTurn(
  bed: Awaited<ReturnType<typeof startNodes>>,
  node: TestNode,
  prompt: string,
  key?: keyof typeof KEYS,
) {
  const held = new HeldStep(words(FINAL), 'half');
  bed.model.play(prompt, [held.held]);
  const answer = await begin(node, [user(prompt)], key && { key });
  await held.gate.reached;
  return { answer, gate: held.gate };
}

describe('a turn on another node', () => {
  it('is shown from its beginning to its end, with what its commands print', async () => {
    const { a, b, model } = await startNodes(store, { shares: true });
    model.play('Show me.', [says('Look: ', bash('show_1', 'echo from the other node')), words(FINAL)]);
    const page = await open(b);
    await whole(await begin(a, [user('Show me.')]));
    await page.until(isEnded);
    expect(textOf(page)).toBe(`Look: ${FINAL}`);
    const [start, result] = chunksOf(page).filter(
      ({ type }) => type === 'tool_start' || type === 'tool_result',
    );
    expect(start).toMatchObject({ name: 'Bash', command: 'echo from the other node' });
    expect(JSON.stringify(result)).toContain('from the other node');
    expect(page.events.filter(isShown)).toHaveLength(1);
    expect(page.gaps).toEqual([]);
    // The line of the request log comes with it.
    await page.until((event) => event.type === 'request');
  });

  it('is shown as it stands to a page that comes in the middle, also again', async () => {
    const bed = await startNodes(store, { shares: true });
    const { a, b } = bed;
    const { answer, gate } = await heldTurn(bed, a, 'In the middle.');
    const page = await open(b);
    const [first] = await Promise.all([page.until(({ type }) => type === 'snapshot')]);
    expect(first).toMatchObject({ turns: [{ session: answer.headers.get('x-session-id'), model: 'agent' }] });
    const once = JSON.parse((await api(b, 'GET', '/api/events?once=1')).text);
    expect(once).toMatchObject({
      type: 'snapshot',
      turns: [{ session: answer.headers.get('x-session-id') }],
    });
    const listed = JSON.parse((await api(b, 'GET', '/api/sessions?status=running')).text);
    expect(listed.data).toMatchObject([{ id: answer.headers.get('x-session-id'), running: true }]);
    gate.open();
    await page.until(isEnded);
    expect(textOf(page)).toBe(FINAL);
    expect(page.gaps).toEqual([]);
    await whole(answer);
    expect(JSON.parse((await api(b, 'GET', '/api/sessions?status=running')).text).data).toEqual([]);
  });

  it('goes on for a page that comes back to the other node with its last event', async () => {
    const bed = await startNodes(store, { shares: true });
    const { a, b } = bed;
    const { answer, gate } = await heldTurn(bed, a, 'Come back.');
    const before = await open(a);
    await before.until(({ type }) => type === 'snapshot');
    before.close();
    const page = await open(b, 'storm', before.last);
    expect(await page.until(isShown)).toMatchObject({ type: 'snapshot', turns: [{ model: 'agent' }] });
    gate.open();
    await page.until(isEnded);
    expect(textOf(page)).toBe(FINAL);
    await whole(answer);
  });

  it('is in the snapshot that follows an event of another node, whichever is asked', async () => {
    const { a, b } = await startNodes(store, { shares: true });
    const page = await open(a);
    const { id } = await page.until(({ type }) => type === 'snapshot');
    const once = (lastId: string) => api(b, 'GET', `/api/events?once=1&last_event_id=${lastId}`);
    const epochOf = ({ text }: { text: string }) => String(JSON.parse(text).id).split('.')[0];
    const ofA = await until(async () => {
      const answer = await once(id);
      return answer.headers.get('x-toolgate-node') === 'a' && answer;
    });
    expect(epochOf(ofA)).toBe(id.split('.')[0]);
    expect(epochOf(await once('beef.7'))).not.toBe(id.split('.')[0]);
  });

  it('is shown to nobody who may not see it', async () => {
    const bed = await startNodes(store, { shares: true });
    const { a, b } = bed;
    const secret = await heldTurn(bed, a, 'Of storm alone.', 'storm');
    const page = await open(b, 'calm');
    const own = await heldTurn(bed, a, 'Of calm.', 'calm');
    await page.until(isShown);
    secret.gate.open();
    await whole(secret.answer);
    own.gate.open();
    await whole(own.answer);
    await page.until(isEnded);
    const shown = JSON.stringify(page.events);
    expect(shown).not.toContain(secret.answer.headers.get('x-session-id'));
    expect(shown).not.toContain('Of storm alone.');
    expect(textOf(page)).toBe(FINAL);
  });

  it('is seen again, without a gap and without anything twice, where the wire between the nodes broke', async () => {
    const bed = await startNodes(store, { shares: true });
    const { a, b } = bed;
    const { answer, gate } = await heldTurn(bed, a, 'Broken wire.');
    const page = await open(b);
    await page.until(isShown);
    expect(askedIn(a)).toBe(1);
    a.wire.cut();
    gate.open();
    await whole(answer);
    a.wire.mend();
    await page.until(isEnded);
    expect(askedIn(a)).toBe(2);
    expect(textOf(page)).toBe(FINAL);
    expect(page.gaps).toEqual([]);
  });

  it('is shown until its end where its node stops in order', async () => {
    const bed = await startNodes(store, { shares: true, drain: 60 });
    const { a, b } = bed;
    const { answer, gate } = await heldTurn(bed, a, 'Drained.');
    const page = await open(b);
    await page.until(isShown);
    const left = await open(a);
    const closing = a.gateway.close();
    await left.ended;
    // Also one that comes while it stops.
    const late = await open(b);
    await late.until(isShown);
    gate.open();
    await Promise.all([page.until(isEnded), late.until(isEnded), whole(answer)]);
    expect([textOf(page), textOf(late)]).toEqual([FINAL, FINAL]);
    expect(page.of('turn').at(-1)).toMatchObject({ end: 'complete' });
    await closing;
  });

  it('is asked for while somebody looks, and not by each page for itself', async () => {
    const { a, b } = await startNodes(store, { shares: true });
    await api(b, 'GET', '/api/sessions');
    expect(askedIn(a)).toBe(0);
    const pages = [await open(b), await open(b), await open(b)];
    await Promise.all(pages.map((page) => page.until(({ type }) => type === 'snapshot')));
    await open(b, 'calm');
    await until(() => askedIn(a) > 1);
    expect(askedIn(a)).toBe(2);
  });
});

it('what a node tells others is for nodes alone', async () => {
  const { a } = await startNodes(store, { shares: true });
  expect((await api(a, 'GET', '/api/node/events')).status).toBe(404);
  const headers = { 'x-toolgate-forward': 'made-up.claim' };
  expect((await api(a, 'GET', '/api/node/events', { headers })).status).toBe(401);
});
