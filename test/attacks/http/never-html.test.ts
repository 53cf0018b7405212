/** What a model, a tool or a client wrote is shown as a page of the gateway, and its script runs there. */
import { describe, expect, it } from 'vitest';
import { openAgent } from '../agent-probe.js';
import { EVERY_ROUTE, nameOf, send, tokenOf } from '../every-route.js';

const SCRIPT = '<html><script>fetch("/api/mcp",{method:"POST"})</script></html>';
const SAFE_TYPES = /^(?:application\/json|text\/plain|text\/event-stream)\b/;

/** Nothing that a browser would draw, and nothing that it may guess to be something else. */
function expectInert(what: string, headers: { type: string | null; sniff: string | null }): void {
  expect([what, headers]).toEqual([what, { type: expect.stringMatching(SAFE_TYPES), sniff: 'nosniff' }]);
}

const inert = (headers: Headers): { type: string | null; sniff: string | null } => ({
  type: headers.get('content-type'),
  sniff: headers.get('x-content-type-options'),
});

describe('text that others wrote', () => {
  it('comes back as data on every route, and only the console itself is a page', async () => {
    const { gateway } = await openAgent();
    const authorization = `Bearer ${tokenOf(gateway)}`;
    for (const route of EVERY_ROUTE) {
      for (const accept of ['text/html', '*/*']) {
        const { headers, body, status } = await send(gateway, route, { authorization, accept });
        expect([nameOf(route), headers['x-content-type-options']]).toEqual([nameOf(route), 'nosniff']);
        if (nameOf(route) === 'GET /') continue;
        if (body.length > 0 && status !== 204) {
          expect([nameOf(route), headers['content-type']]).toEqual([
            nameOf(route),
            expect.stringMatching(SAFE_TYPES),
          ]);
        }
      }
    }
    const page = await send(gateway, { method: 'GET', path: '/' });
    const policy = page.headers['content-security-policy'] ?? '';
    expect(policy).toMatch(/script-src 'self'|default-src 'self'|default-src 'none'/);
    expect(policy).not.toMatch(/unsafe-inline.*script|script-src[^;]*unsafe/);
    expect(policy).toContain('frame-ancestors');
  });

  it.each<[what: string, stream: boolean]>([
    ['whole', false],
    ['streamed', true],
  ])('is data in an answer (%s), in its trace, and in an error that quotes it', async (_what, stream) => {
    const { post, api, gateway } = await openAgent({ rest: { traces: { bodies: true } } });
    const answer = await post({ stream, messages: [{ role: 'user', content: SCRIPT }] });
    await answer.text();
    expectInert('answer', inert(answer.headers));
    const id = answer.headers.get('x-toolgate-trace') ?? '';
    const paths = [
      `/api/traces/${id}`,
      '/api/traces',
      `/api/traces/${encodeURIComponent(SCRIPT)}`,
      `/api/approvals/${encodeURIComponent(SCRIPT)}`,
      `/api/mcp/${encodeURIComponent(SCRIPT)}/callback?code=${encodeURIComponent(SCRIPT)}&state=x`,
      `/api/mcp/x/callback?error=${encodeURIComponent(SCRIPT)}&state=x`,
      `/api/rules?id=${encodeURIComponent(SCRIPT)}`,
      `/v1/models/${encodeURIComponent(SCRIPT)}`,
      `/${encodeURIComponent(SCRIPT)}`,
    ];
    for (const path of paths) expectInert(path, inert((await api('GET', path)).headers));
    const unknown = await post({ model: SCRIPT, messages: [] });
    await unknown.text();
    expectInert('unknown model', inert(unknown.headers));
    const broken = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', body: SCRIPT });
    await broken.text();
    expectInert('broken body', inert(broken.headers));
  });

  it('is data in the question that a person is asked', async () => {
    const { run, api, waiting, root } = await openAgent({ permissions: { mode: 'ask', unattended: 'wait' } });
    const running = run([
      'Write',
      { file_path: `${root}/${encodeURIComponent('<img src=x>')}.html`, content: SCRIPT },
    ]);
    const { id, digest } = await waiting();
    for (const path of ['/api/approvals', `/api/approvals/${id}`]) {
      const shown = await api('GET', path);
      expectInert(path, inert(shown.headers));
      expect(JSON.parse(shown.text)).toBeDefined();
    }
    const decided = await api('POST', `/api/approvals/${id}`, { decision: 'deny', digest, reason: SCRIPT });
    expectInert('decision', inert(decided.headers));
    await running;
  });
});
