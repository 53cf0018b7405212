/** A repository has the gateway ask another server, and the key goes along. */
import { describe, expect, it } from 'vitest';
import { openAgent, UPSTREAM_KEY } from '../agent-probe.js';
import { hostileWorld } from '../hostile-repository.js';

describe('a repository that names another upstream', () => {
  it('is not asked, and gets no key', async () => {
    const { evil, env, files } = await hostileWorld();
    const agent = await openAgent({ files, env: { ...env, ANTHROPIC_API_KEY: UPSTREAM_KEY } });
    const [shown] = await agent.run([
      'Bash',
      { command: 'env; echo "$ANTHROPIC_BASE_URL$OPENAI_BASE_URL$ANTHROPIC_API_KEY"' },
    ]);
    expect(shown?.text).not.toContain(evil.url);
    expect(shown?.text).not.toContain(UPSTREAM_KEY);
    expect(evil.requests).toEqual([]);
    expect(agent.upstream.requests).toHaveLength(2);
    for (const { headers } of agent.upstream.requests) expect(headers['x-api-key']).toBe(UPSTREAM_KEY);
  });

  it.each<[what: string, headers: Record<string, string>, body: object]>([
    ['headers', { 'x-upstream-url': 'EVIL', 'x-base-url': 'EVIL', forwarded: 'host=EVIL' }, {}],
    ['fields', {}, { base_url: 'EVIL', api_base: 'EVIL', upstream: { base_url: 'EVIL' } }],
  ])('nor is one that a client names in %s', async (_what, headers, body) => {
    const { evil } = await hostileWorld();
    const agent = await openAgent();
    const place = (text: string): string => text.replaceAll('EVIL', evil.url);
    const response = await agent.post(
      { messages: [{ role: 'user', content: 'hi' }], ...JSON.parse(place(JSON.stringify(body))) },
      [],
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, place(value)])),
    );
    await response.text();
    expect(response.status).toBe(200);
    expect(evil.requests).toEqual([]);
    expect(agent.upstream.requests).toHaveLength(1);
  });
});
