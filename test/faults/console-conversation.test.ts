/** A conversation with a real gateway: watched from the beginning, from the middle, and loaded anew. */
import { describe, expect, it } from 'vitest';
import { ConsoleClient } from '../../console/src/data/console-client.js';
import { ConversationSource, type ConversationView } from '../../console/src/data/conversation-source.js';
import { browserTimers } from '../../console/src/data/events/ports.js';
import type { Part } from '../../console/src/data/reducer/view.js';
import type { ChatStarted } from '../../src/server/console-api/wire/sessions.js';
import { repository, type Step, startAgent } from '../e2e/native-agent-harness.js';
import { closeAfterTest } from '../support/cleanup.js';
import { call, cut, textAnswer } from '../support/wire.js';

const KEY = 'key-of-alice';
const CONFIG = {
  server: { keys: [{ key: KEY, name: 'alice', scopes: ['call', 'approve', 'admin'] }], drain_s: 0 },
  permissions: { mode: 'ask', allow: ['Read'], unattended: 'wait' },
};

async function world(steps: readonly Step[]) {
  const { root } = await repository({ 'a.txt': 'hello\n' });
  const { gateway } = await startAgent('anthropic-messages', root, steps, { rest: CONFIG });
  const open = (): Page => new Page(gateway.url);
  return { open };
}

/** A page that shows one conversation, and remembers everything that it showed. */
class Page {
  readonly client: ConsoleClient;
  readonly shown: ConversationView[] = [];
  #source: ConversationSource | undefined;
  #onShown: () => void = () => {};

  constructor(url: string) {
    const headers = { authorization: `Bearer ${KEY}` };
    this.client = new ConsoleClient({
      ...browserTimers,
      shared: undefined,
      schedule: (run) => void setImmediate(run),
      fetch: (path, init) => fetch(`${url}${path}`, { ...init, headers: { ...init.headers, ...headers } }),
    });
    this.client.start();
    closeAfterTest(() => this.client.stop());
  }

  say(content: string, session?: string): Promise<ChatStarted> {
    const body = { model: 'coder', content, ...(session === undefined ? {} : { session }) };
    return this.client.request<ChatStarted>('POST', '/api/chat', body);
  }

  look(session: string): void {
    const { request, store } = this.client;
    const source = new ConversationSource(session, { after: browserTimers.after, request, store });
    this.#source = source;
    const end = source.subscribe(() => {
      this.shown.push(source.get());
      this.#onShown();
    });
    closeAfterTest(end);
    closeAfterTest(store.subscribe(() => this.#onShown()));
  }

  get now(): ConversationView {
    if (this.#source === undefined) throw new Error('Nobody looks');
    return this.#source.get();
  }

  async until(condition: (conversation: ConversationView) => boolean): Promise<ConversationView> {
    while (!condition(this.now))
      await new Promise<void>((resolve) => {
        this.#onShown = resolve;
      });
    return this.now;
  }

  /** What is shown once it waits, and the page has heard of the question itself: either may be first. */
  asked(): Promise<ConversationView> {
    const { store } = this.client;
    return this.until(
      ({ parts, session }) =>
        session !== undefined && outline(parts).includes('Bash waiting') && store.get().approvals.size > 0,
    );
  }
}

const outline = (parts: readonly Part[]): string[] =>
  parts.map((part) => {
    switch (part.kind) {
      case 'user':
        return `user ${part.content.map((block) => (block.type === 'text' ? block.text : block.type)).join()}`;
      case 'tool':
        return `${part.card.name} ${part.card.state}`;
      case 'note':
        return `note ${part.note.type}`;
      default:
        return `${part.kind} ${part.kind === 'media' ? part.content.length : part.text}`;
    }
  });

/** Nothing is there twice, at no moment. */
function problemsOf(shown: readonly ConversationView[]): string[] {
  return shown.flatMap(({ parts }) => {
    const keys = parts.map(({ key }) => key);
    const cards = parts.flatMap((part) => (part.kind === 'tool' ? [part.card.id] : []));
    const twice = [...keys, ...cards.map((id) => `card ${id}`)].filter(
      (each, at, all) => all.indexOf(each) !== at,
    );
    return twice.length === 0 ? [] : [`${twice.join()} in ${outline(parts).join(' | ')}`];
  });
}

const READS = call('Read', { file_path: 'a.txt' }, 'call-read');
const WRITES = call('Bash', { command: 'echo more >> a.txt' }, 'call-bash');

const ENDS: readonly Step[] = [
  { parts: [{ type: 'text', text: cut('I look at it first.', 4) }, READS] },
  { parts: [{ type: 'text', text: 'Now I change it.' }, WRITES] },
  textAnswer(cut('It is done.', 3)),
];

const WHOLE = [
  'user change a.txt',
  'text I look at it first.',
  'Read success',
  'text Now I change it.',
  'Bash success',
  'text It is done.',
];

const ended = ({ running, parts, session }: ConversationView): boolean =>
  !running &&
  session?.running === false &&
  parts.some((part) => part.kind === 'text' && part.text.startsWith('It is'));

describe('a conversation with a real gateway', () => {
  it('is shown without anything twice or missing from its beginning to its end, and keeps its rows', async () => {
    const { open } = await world(ENDS);
    const page = open();
    const { session } = await page.say('change a.txt');
    page.look(session);
    const waiting = await page.asked();
    const [approval] = [...page.client.store.get().approvals.values()];
    if (approval === undefined) throw new Error('Nothing was asked');
    await page.client.decisions.decide(approval, { decision: 'allow' });
    const done = await page.until(ended);
    expect(outline(done.parts)).toEqual(WHOLE);
    expect(problemsOf(page.shown)).toEqual([]);
    // What was on the screen while it waited is the same row afterwards.
    const keys = done.parts.map(({ key }) => key);
    expect(keys.slice(0, waiting.parts.length)).toEqual(waiting.parts.map(({ key }) => key));
    expect(done.parts.find((part) => part.kind === 'tool' && part.card.id === 'call-bash')).toMatchObject({
      card: {
        approval: approval.id,
        durationMs: expect.any(Number),
        because: expect.stringContaining('alice'),
      },
    });
  });

  it('looks the same after a reload, while it waits and when it is over', async () => {
    const { open } = await world(ENDS);
    const first = open();
    const { session } = await first.say('change a.txt');
    first.look(session);
    const before = await first.asked();
    const second = open();
    second.look(session);
    const again = await second.asked();
    expect(outline(again.parts)).toEqual(outline(before.parts));
    const [approval] = [...second.client.store.get().approvals.values()];
    if (approval === undefined) throw new Error('The question is lost');
    await second.client.decisions.decide(approval, { decision: 'allow' });
    await Promise.all([first.until(ended), second.until(ended)]);
    const third = open();
    third.look(session);
    await third.until(ended);
    for (const page of [first, second, third]) {
      expect(outline(page.now.parts)).toEqual(WHOLE);
      expect(problemsOf(page.shown)).toEqual([]);
    }
  });

  it('shows a second turn with the same words behind the first', async () => {
    const { open } = await world([textAnswer('It is one.'), textAnswer('It is two.')]);
    const page = open();
    const { session } = await page.say('again');
    page.look(session);
    await page.until(ended);
    await page.say('again', session);
    const both = await page.until((now) => ended(now) && now.parts.length >= 4);
    expect(outline(both.parts)).toEqual(['user again', 'text It is one.', 'user again', 'text It is two.']);
    expect(problemsOf(page.shown)).toEqual([]);
    expect(both.parts.filter((part) => part.kind === 'user').map(({ turn }) => turn)).toEqual([0, 1]);
  });

  it('shows a denial as one, also after a reload', async () => {
    const { open } = await world([{ parts: [WRITES] }, textAnswer('It is not done.')]);
    const page = open();
    const { session } = await page.say('change a.txt');
    page.look(session);
    await page.asked();
    const [approval] = [...page.client.store.get().approvals.values()];
    if (approval === undefined) throw new Error('Nothing was asked');
    await page.client.decisions.decide(approval, { decision: 'deny', reason: 'not now' });
    await page.until(ended);
    const later = open();
    later.look(session);
    await later.until(ended);
    for (const { now } of [page, later]) {
      expect(outline(now.parts)).toEqual(['user change a.txt', 'Bash denied', 'text It is not done.']);
      expect(now.parts[1]).toMatchObject({ card: { because: 'denied by alice (api): not now' } });
    }
  });
});
