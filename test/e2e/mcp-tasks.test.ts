/** Calls that a server runs as tasks, in both eras: their result is the tool's result. */
import { describe, expect, it } from 'vitest';
import { closeSitesAfterEach } from '../support/loopback-site.js';
import { everythingServer, httpServer, testClient, textOf } from '../support/mcp-servers.js';
import { startTaskPeer } from '../support/mcp-task-peer.js';
import type { JsonRecord } from '../support/violation.js';

closeSitesAfterEach();

const WORKING = { status: 'working', statusMessage: 'half of it' };
const DONE = { status: 'completed', result: { content: [{ type: 'text', text: 'the result' }] } };
const form = (message: string): JsonRecord => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties: { city: { type: 'string' } } } },
});

async function connected(...script: Parameters<typeof startTaskPeer>[0]) {
  const peer = await startTaskPeer(script);
  const client = testClient({ peer: httpServer(peer.url) });
  await client.settled(AbortSignal.timeout(60_000));
  return { peer, client };
}

describe('a call that a server of 2026-07-28 makes a task', () => {
  it('gives the result of the task, and its words as progress', async () => {
    const { peer, client } = await connected(WORKING, DONE);
    const said: unknown[] = [];
    const result = await client.call('peer', 'slow', {}, { onProgress: ({ message }) => said.push(message) });
    expect(textOf(result)).toBe('the result');
    expect(result.isError).toBe(false);
    expect(said).toEqual(['begun', 'half of it']);
    expect(peer.seen).toEqual(['tasks/get', 'tasks/get']);
    expect(peer.violations).toEqual([]);
  });

  it('asks a person once for each question, and brings what they said', async () => {
    const asks = { status: 'input_required', inputRequests: { where: form('Which city?') } };
    const { peer, client } = await connected(asks, asks, DONE);
    const asked: string[] = [];
    const result = await client.call(
      'peer',
      'slow',
      {},
      {
        onQuestion: async ({ message }) => {
          asked.push(message);
          return { action: 'accept', values: { city: 'Rome' } };
        },
      },
    );
    expect(textOf(result)).toBe('the result');
    expect(asked).toEqual(['Which city?']);
    expect(peer.answers).toEqual([{ where: { action: 'accept', content: { city: 'Rome' } } }]);
    expect(peer.violations).toEqual([]);
  });

  it('is cancelled when the call is stopped', async () => {
    const { peer, client } = await connected(WORKING);
    const stop = new AbortController();
    const calling = client.call(
      'peer',
      'slow',
      {},
      { signal: stop.signal, onProgress: ({ message }) => message === 'half of it' && stop.abort() },
    );
    await expect(calling).rejects.toThrow();
    expect(await peer.cancelled).toBe('task-1');
    expect(peer.violations).toEqual([]);
  });

  it('is asked for again where an answer was lost on the way', async () => {
    const { peer, client } = await connected('cut', DONE);
    expect(textOf(await client.call('peer', 'slow'))).toBe('the result');
    expect(peer.violations).toEqual([]);
  });

  it.each([
    [{ status: 'failed', error: { code: -32603, message: 'no paper' } }, 'answered with an error: no paper'],
    [{ status: 'cancelled', statusMessage: 'by its owner' }, 'cancelled the task (by its owner)'],
    [
      { status: 'input_required', inputRequests: { a: { method: 'sampling/createMessage', params: {} } } },
      'sampling/createMessage, which is not offered',
    ],
    [{ status: 'on holiday' }, 'failed'],
  ])('that ends as %j is a failure that says so', async (state, words) => {
    const { client } = await connected(state);
    const result = await client.call('peer', 'slow');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(words);
  });
});

describe('a tool of 2025-11-25 that only runs as a task', () => {
  it('is called as one, and what its server asks goes to the person of that call', async () => {
    const client = testClient({ everything: everythingServer() });
    await client.settled(AbortSignal.timeout(60_000));
    const call = (topic: string) => {
      const asked: string[] = [];
      const result = client.call(
        'everything',
        'simulate-research-query',
        { topic, ambiguous: true },
        {
          onQuestion: async ({ message, form: { fields } }) => {
            asked.push(message);
            const [choice] = fields;
            return { action: 'accept', values: { interpretation: choice?.options[0]?.value ?? '' } };
          },
        },
      );
      return { asked, result };
    };
    // Two at once on one connection: without the id of the task nobody could know whom to ask.
    const [first, second] = [call('python'), call('mercury')];
    for (const [topic, { asked, result }] of Object.entries({ python: first, mercury: second })) {
      expect(textOf(await result)).toContain(`# Research Report: ${topic}`);
      expect(asked).toEqual([expect.stringContaining(topic)]);
    }
  });
});
