/** Servers that hang, die, flood and lie: each costs its own tools and nothing else. */

import { describe, expect, it } from 'vitest';
import { gone, isRunning, oddServer, stdioServer, testClient, textOf } from '../support/mcp-servers.js';

const settle = (): AbortSignal => AbortSignal.timeout(45_000);
const MB = 1024 * 1024;

async function connected(...args: Parameters<typeof testClient>) {
  const client = testClient(...args);
  await client.settled(settle());
  return client;
}

describe('a server that does not come up', () => {
  it.each([
    [
      'hangs at initialise',
      oddServer('hang-at-start'),
      /did not answer within 0\.3 s/,
      { initialiseMs: 300 },
    ],
    ['hangs at its list', oddServer('hang-at-list'), /did not answer within 0\.4 s/, { listMs: 400 }],
    ['ends', oddServer('exit-at-start'), /it ended with code 7; stderr: no licence found/],
    [
      'does not exist',
      stdioServer([], { command: '/nonexistent/server' }),
      /there is no such program; check `command`/,
    ],
    ['speaks another protocol', oddServer('wrong-version'), /protocol version is not supported/],
    ['prints without end', oddServer('flood-at-start'), /prints on stdout what is not MCP/],
    ['has a list over the limit', oddServer('huge-list'), /over the limit of 16\.0 MB/],
  ])(
    'because it %s has failed and says why, while another works',
    async (_what, config, problem, limits?) => {
      const client = await connected({ bad: config }, { limits: { ...limits } });
      expect(client.status()).toMatchObject([
        { name: 'bad', state: 'failed', problem: expect.stringMatching(problem) },
      ]);
      // The limits are of a client; those of this one are too tight for a busy machine.
      const other = testClient({});
      const status = await other.add('good', oddServer());
      expect(status).toMatchObject({ state: 'connected', persistent: false });
      expect(textOf(await other.call('good', 'echo', { a: 1 }))).toBe('{"a":1}');
    },
  );

  it('does not hold up the others', async () => {
    const client = testClient({ bad: oddServer('hang-at-start'), good: oddServer() });
    await client.until('good', ({ state }) => state === 'connected');
    expect(client.status()).toMatchObject([{ state: 'connecting' }, { state: 'connected' }]);
    expect(client.tools().every(({ server }) => server === 'good')).toBe(true);
  });

  it('is tried again with growing pauses, and works once it comes up', async () => {
    const client = testClient(
      { bad: oddServer('exit-at-start') },
      { limits: { retryFirstMs: 1, retryMaxMs: 8 }, random: () => 0 },
    );
    const failures = (): number =>
      client.lines.filter(({ message }) => message === 'MCP server is not connected').length;
    await client.until('bad', ({ state }) => state === 'failed' && failures() >= 3);
    expect(client.status()[0]?.retryAt).toBeGreaterThan(0);
  });
});

describe('a program of the older era', () => {
  it.each([
    ['ends-when-asked', 60_000],
    // It comes to the question when nobody waits for the answer any more.
    ['ends-when-asked', 1],
    ['silent-when-asked', 1],
  ])('that %s what it speaks is connected (%i ms)', async (mode, probeMs) => {
    const client = await connected({ odd: oddServer(mode) }, { limits: { probeMs } });
    expect(client.status()).toMatchObject([{ state: 'connected', protocol: '2025-11-25' }]);
    expect(textOf(await client.call('odd', 'echo', { a: 1 }))).toBe('{"a":1}');
    // Also when it comes back, or for a session of its own.
    await client.reconnect('odd');
    expect(client.status()).toMatchObject([{ state: 'connected' }]);
  });
});

describe('a call to an MCP server', () => {
  it('to a server that hangs is cancelled after its time, and the server is told', async () => {
    const client = await connected({ odd: oddServer('plain', { timeout_s: 3 }) });
    const result = await client.call('odd', 'hang');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('did not finish the call within');
    expect(JSON.parse(textOf(await client.call('odd', 'cancelled')))).toHaveLength(1);
  });

  it('that is given up ends at once, and the server is told', async () => {
    const client = await connected({ odd: oddServer() });
    const control = new AbortController();
    const call = client.call('odd', 'hang', {}, { signal: control.signal });
    await client.call('odd', 'echo');
    control.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    expect(JSON.parse(textOf(await client.call('odd', 'cancelled')))).toHaveLength(1);
  });

  it('that is done leaves nothing on the signal of the caller', async () => {
    const client = await connected({ odd: oddServer() });
    const control = new AbortController();
    await client.call('odd', 'echo', {}, { signal: control.signal });
    control.abort();
    expect(textOf(await client.call('odd', 'cancelled'))).toBe('[]');
  });

  it('to a server that dies says so, and the server comes back', async () => {
    const client = await connected({ odd: oddServer() }, { limits: { retryFirstMs: 1 } });
    const result = await client.call('odd', 'die');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(
      /went away while the call ran \(it ended with code 3; stderr: about to fall over\)/,
    );
    await client.until('odd', ({ state }) => state === 'connected');
    expect(textOf(await client.call('odd', 'echo', { again: true }))).toBe('{"again":true}');
  });

  it.each([
    ['error', 'answered with an error: the disk is full'],
    ['tool-error', 'no such file'],
  ])('that ends with %s is a result that says so', async (tool, text) => {
    const client = await connected({ odd: oddServer() });
    const result = await client.call('odd', tool);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(text);
  });

  it('whose answer is over the limit fails alone', async () => {
    const client = await connected({ odd: oddServer() }, { limits: { messageBytes: MB } });
    const other = client.call('odd', 'hold', { key: 'k' });
    const result = await client.call('odd', 'huge', { mb: 100 });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('over the limit of 1.0 MB');
    await client.call('odd', 'release', { key: 'k', text: 'still here' });
    expect(textOf(await other)).toBe('still here');
  });

  it.each([
    ['huge-anonymous', { mb: 3 }, 'over the limit'],
    ['flood', {}, 'what is not MCP'],
    ['endless', {}, 'without a line break'],
  ])('during which the server sends %s ends, and the server with it', async (tool, input, problem) => {
    const client = await connected(
      { odd: oddServer() },
      { limits: { messageBytes: MB, skippedBytes: 8 * MB } },
    );
    const pid = Number(textOf(await client.call('odd', 'pid')));
    const result = await client.call('odd', tool, input);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(problem);
    await client.close();
    await gone(pid);
  });

  it('gets its own answer whatever the order', async () => {
    const client = await connected({ odd: oddServer() });
    const a = client.call('odd', 'hold', { key: 'a' }, { session: 'A' });
    const b = client.call('odd', 'hold', { key: 'b' }, { session: 'B' });
    await client.call('odd', 'release', { key: 'b', text: 'for B' });
    await client.call('odd', 'release', { key: 'a', text: 'for A' });
    expect([textOf(await a), textOf(await b)]).toEqual(['for A', 'for B']);
  });

  it('is answered once', async () => {
    const client = await connected({ odd: oddServer() });
    expect(textOf(await client.call('odd', 'duplicate-answer'))).toBe('first');
    expect(textOf(await client.call('odd', 'echo', { n: 2 }))).toBe('{"n":2}');
  });

  it('has progress as a sign of life', async () => {
    const client = await connected({ odd: oddServer() });
    const steps: string[] = [];
    await client.call(
      'odd',
      'progress',
      { steps: 3 },
      { onProgress: ({ message = '' }) => steps.push(message) },
    );
    expect(steps).toEqual(['step 1', 'step 2', 'step 3']);
  });
});

describe('what a server says', () => {
  it('beside messages on stdout is passed over', async () => {
    const client = await connected({ odd: oddServer('stray') });
    expect(textOf(await client.call('odd', 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  it.each(['sampling/createMessage', 'roots/list'])('%s is refused', async (method) => {
    const client = await connected({ odd: oddServer() });
    expect(textOf(await client.call('odd', 'ask', { method }))).toContain('-32601');
  });

  it('on stderr is in the log, without its own secrets', async () => {
    const program = "process.stderr.write('token ' + process.env.SECRET + '\\n'); process.exit(1)";
    const client = await connected({
      odd: stdioServer(['-e', program], { env: { SECRET: 'swordfish-1234' } }),
    });
    const said = JSON.stringify([client.lines, client.status()]);
    expect(said).toContain('token [redacted]');
    expect(said).not.toContain('swordfish');
  });
});

describe('tool lists of MCP servers', () => {
  it('of 10,000 tools are cut, and that is said', async () => {
    const client = await connected({ odd: oddServer('many') });
    expect(client.tools()).toHaveLength(512);
    expect(client.status()[0]?.problem).toContain('more than 512 tools; only the first 512 are offered');
  });

  it('come in pages', async () => {
    const client = await connected({ odd: oddServer('paged') });
    expect(client.status()[0]?.tools).toEqual([0, 1, 2, 3, 4].map((page) => `mcp__odd__page-${page}`));
  });

  it.each([
    ['looping', 1, undefined],
    ['endless-pages', 64, expect.stringContaining('more than')],
  ])('with %s pages end', async (mode, count, problem) => {
    const client = await connected({ odd: oddServer(mode) });
    expect(client.tools()).toHaveLength(count);
    expect(client.status()[0]?.problem).toEqual(problem);
  });

  it('are empty for a server without tools', async () => {
    const client = await connected({ odd: oddServer('no-tools') });
    expect(client.status()).toMatchObject([{ state: 'connected', tools: [] }]);
  });

  it('keep what is good of what is odd', async () => {
    const client = await connected({ odd: oddServer('odd-tools') });
    const byName = new Map(client.tools().map((tool) => [tool.name, tool]));
    expect(byName.get('mcp__odd__fine')?.annotations).toEqual({ readOnly: true });
    expect(byName.get('mcp__odd__typeless')?.inputSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
    });
    expect(byName.get('mcp__odd__chatty')?.description.length).toBeLessThan(9000);
    expect([...byName.keys()].filter((name) => name.includes('a_b'))).toHaveLength(3);
    expect(byName.has('mcp__odd__a_b')).toBe(true);
    const problem = client.status()[0]?.problem;
    expect(problem).toContain('1 of its tools are not valid');
    expect(problem).toContain('"heavy" is too large');
  });

  it('follow the server when it says that they have changed', async () => {
    const client = await connected({ odd: oddServer() });
    const before = client.tools().length;
    await client.call('odd', 'grow');
    await client.until('odd', ({ tools }) => tools.length === before + 1);
    expect(client.tools().map(({ name }) => name)).toContain('mcp__odd__extra-0');
  });
});

describe('processes of MCP servers', () => {
  it.each(['plain', 'stubborn'])('of a %s server are gone after close, with their children', async (mode) => {
    const client = await connected({ odd: oddServer(mode) });
    const pids = [textOf(await client.call('odd', 'pid')), textOf(await client.call('odd', 'child'))].map(
      Number,
    );
    expect(pids.map(isRunning)).toEqual([true, true]);
    await client.close();
    await Promise.all(pids.map(gone));
  });

  it('that a dying server leaves behind are ended too', async () => {
    const client = await connected({ odd: oddServer() });
    const child = Number(textOf(await client.call('odd', 'child')));
    await client.call('odd', 'die');
    await client.close();
    await gone(child);
  });

  it('end while they are being started', async () => {
    const client = testClient({ odd: oddServer('hang-at-start') });
    await client.close();
    expect(client.status()).toEqual([]);
  });

  it('see the allow-listed part of the environment and what is configured', async () => {
    const client = await connected(
      { odd: oddServer('plain', { env: { MINE: 'yes' } }) },
      { environment: { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'sk-secret', HOME: '/home/x' } },
    );
    const seen = JSON.parse(textOf(await client.call('odd', 'environment')));
    expect(seen).toMatchObject({ MINE: 'yes', HOME: '/home/x' });
    expect(seen).not.toHaveProperty('ANTHROPIC_API_KEY');
  });
});

describe('changes', () => {
  it('add, remove and reconnect servers', async () => {
    const client = await connected({ odd: oddServer() });
    await expect(client.add('odd', oddServer())).rejects.toMatchObject({ code: 'conflict' });
    await expect(client.add('a__b', oddServer())).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(client.add('gateway', oddServer())).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(client.add('x', { type: 'stdio' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('x.command: missing'),
    });
    const before = textOf(await client.call('odd', 'pid'));
    await client.reconnect('odd');
    expect(textOf(await client.call('odd', 'pid'))).not.toBe(before);
    await gone(Number(before));
    await expect(client.reconnect('none')).rejects.toMatchObject({ code: 'not_found' });
    expect(await client.remove('odd')).toBe(true);
    expect(await client.remove('odd')).toBe(false);
    expect(client.tools()).toEqual([]);
  });
});
