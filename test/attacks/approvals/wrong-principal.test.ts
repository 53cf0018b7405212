/** An approval is answered by somebody else, again, for something else, or too late. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentProbe, type Outcome, openAgent } from '../agent-probe.js';

const KEYS = [
  { key: 'k-alice-0123456789', name: 'alice', scopes: ['call', 'approve'] },
  { key: 'k-bob-01234567890', name: 'bob', scopes: ['call', 'approve'] },
  { key: 'k-eve-01234567890', name: 'eve', scopes: ['call'] },
];
const [ALICE, BOB, EVE] = ['k-alice-0123456789', 'k-bob-01234567890', 'k-eve-01234567890'] as const;

const ask = (more: object = {}): Promise<AgentProbe> =>
  openAgent({
    key: ALICE,
    permissions: { mode: 'ask', unattended: 'wait', ...more },
    rest: { server: { keys: KEYS } },
  });

const LINE: readonly ['Bash', { command: string }] = ['Bash', { command: 'echo ran >> ran.txt' }];
const ran = ({ root }: AgentProbe): Promise<string> =>
  readFile(join(root, 'ran.txt'), 'utf8').catch(() => '');

async function waitFor(
  agent: AgentProbe,
): Promise<{ running: Promise<Outcome[]>; path: string; digest: string }> {
  const running = agent.run(LINE);
  const { id, digest } = await agent.waiting(ALICE);
  return { running, path: `/api/approvals/${id}`, digest };
}

describe('an approval', () => {
  it.each<[who: string, key: string, status: number]>([
    ['another key', BOB, 404],
    ['a key without the scope', EVE, 403],
    ['nobody', '', 401],
    ['a guess', 'k-guess', 401],
  ])('is neither shown to nor decided, prolonged or covered by %s', async (_who, key, status) => {
    const agent = await ask();
    const { running, path, digest } = await waitFor(agent);
    const allow = { decision: 'allow', digest };
    expect((await agent.api('GET', path, undefined, key)).status).toBe(status);
    expect((await agent.api('POST', path, allow, key)).status).toBe(status);
    expect((await agent.api('POST', `${path}/extend`, {}, key)).status).toBe(status);
    const listed = await agent.api('GET', '/api/approvals?state=all', undefined, key);
    expect(listed.text).not.toContain(digest);
    for (const scope of [{ scope: 'everywhere' }, { scope: 'project', project: agent.root }]) {
      const rule = { rule: 'Bash', behaviour: 'allow', ...scope };
      expect((await agent.api('POST', '/api/rules', rule, key)).status).toBeGreaterThanOrEqual(401);
    }
    expect((await agent.api('GET', path, undefined, ALICE)).text).toContain('"state":"pending"');
    expect(await ran(agent)).toBe('');
    await agent.api('POST', path, { decision: 'deny', digest }, ALICE);
    expect((await running)[0]).toMatchObject({ isError: true });
    expect(await ran(agent)).toBe('');
  });

  it('is for what was shown: another digest decides nothing', async () => {
    const agent = await ask();
    const { running, path, digest } = await waitFor(agent);
    for (const other of ['', digest.slice(1), `${digest}0`, 'x']) {
      const refused = await agent.api('POST', path, { decision: 'allow', digest: other }, ALICE);
      expect(refused.status).toBe(409);
    }
    expect(await ran(agent)).toBe('');
    await agent.api('POST', path, { decision: 'deny', digest }, ALICE);
    await running;
    expect(await ran(agent)).toBe('');
  });

  it('runs one call once: replaying it changes nothing, and the same call is asked about again', async () => {
    const agent = await ask();
    const first = await waitFor(agent);
    const allow = { decision: 'allow', digest: first.digest };
    expect((await agent.api('POST', first.path, allow, ALICE)).status).toBe(200);
    expect((await first.running)[0]).toMatchObject({ isError: false });
    expect(await ran(agent)).toBe('ran\n');
    expect((await agent.api('POST', first.path, allow, ALICE)).text).toContain('"repeated":true');
    expect((await agent.api('POST', first.path, { ...allow, decision: 'deny' }, ALICE)).status).toBe(409);
    const second = await waitFor(agent);
    expect(second.path).not.toBe(first.path);
    expect((await agent.api('POST', second.path, allow, ALICE)).status).toBe(409);
    expect((await agent.api('POST', first.path, allow, ALICE)).status).toBe(200);
    expect(await ran(agent)).toBe('ran\n');
    await agent.api('POST', second.path, { decision: 'deny', digest: second.digest }, ALICE);
    await second.running;
    expect(await ran(agent)).toBe('ran\n');
  });

  it('that nobody gave in time is over: the answer comes too late, and the model is told the truth', async () => {
    const agent = await ask({ approval_timeout_s: 1 });
    const [outcome] = await agent.run(LINE);
    const { id, digest } = await agent.waiting(ALICE, 'all');
    const path = `/api/approvals/${id}`;
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(/answer/i) });
    expect(outcome?.text).not.toMatch(/denied by|refused by/i);
    expect((await agent.api('POST', path, { decision: 'allow', digest }, ALICE)).status).toBe(410);
    expect(await ran(agent)).toBe('');
  });

  it('does not let another key go on with the conversation that waits', async () => {
    const agent = await ask();
    const first = await agent.post({ messages: [{ role: 'user', content: 'hi' }] }, [], {
      'x-api-key': ALICE,
    });
    await first.text();
    const session = first.headers.get('x-session-id') ?? 'none';
    const stolen = await agent.post({ messages: [{ role: 'user', content: 'hi' }] }, [], {
      'x-api-key': BOB,
      'x-session-id': session,
    });
    expect([stolen.status, stolen.headers.get('x-session-id')]).toEqual([404, null]);
  });
});
