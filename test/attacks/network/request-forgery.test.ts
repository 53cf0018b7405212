/** The gateway made to talk to its own machine or network: literally, by a redirect, by a name that changes. */
import { afterEach, describe, expect, it } from 'vitest';
import { webFetchTool } from '../../../src/tools/web/web-fetch.js';
import { closeSitesAfterEach, redirectHandler, startSite } from '../../support/loopback-site.js';
import { createTestContext, runTool, type TestContext } from '../../support/tool-context.js';

closeSitesAfterEach();
let context: TestContext | undefined;
afterEach(async () => context?.close());

type Options = Parameters<typeof webFetchTool>[0];

async function attempt(url: string, options: Options = {}): Promise<string> {
  context = await createTestContext();
  const tool = webFetchTool({ ...options, fetch: { env: {}, ...options?.fetch } });
  return runTool(tool, { url, prompt: 'x' }, context).then(
    ({ text }) => `fetched: ${text}`,
    (error: unknown) => String(error),
  );
}

/** A service on this machine that answers anybody who reaches it. */
const startSecret = () => startSite((_request, response) => void response.end('the secret'));

const HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.0.0.2',
  '0x7f.0.0.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'localhost.',
  'x.localhost',
  '１２７.０.０.１',
  '127。0。0。1',
];

describe('requests into the own machine or network', () => {
  it.each(HOSTS)('are not made to %s', async (host) => {
    const secret = await startSecret();
    expect(await attempt(`http://${host}:${secret.port}/`)).toMatch(/^ToolError: /);
    expect(secret.seen).toEqual([]);
  });

  it.each(HOSTS)('are not made on a redirect to %s', async (host) => {
    const secret = await startSecret();
    const site = await startSite(redirectHandler);
    const target = encodeURIComponent(`http://${host}:${secret.port}/`);
    const outcome = await attempt(`http://public.test:${site.port}/to?${target}`, {
      allowPrivate: ['public.test'],
      fetch: { resolver: async () => ['127.0.0.1'] },
    });
    expect(outcome).toMatch(/^ToolError: /);
    expect(site.seen).toHaveLength(1);
    expect(secret.seen).toEqual([]);
  });

  it.each([
    '10.0.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '::1',
    'fd00:ec2::254',
    '::ffff:10.0.0.1',
    '::8.8.8.8',
  ])('are not made to a public name with the address %s', async (address) => {
    const outcome = await attempt('http://public.example/', { fetch: { resolver: async () => [address] } });
    expect(outcome).toMatch(/public\.example has the address .* WebFetch only reaches the public web/);
  });

  it('are not made when a name changes its address between the check and the connection', async () => {
    const site = await startSite((_request, response) => void response.end('the page that was checked'));
    let lookups = 0;
    // Were the name looked up again for the connection, it would lead to the metadata service.
    const resolver = async () => (lookups++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']);
    const outcome = await attempt(`http://rebind.test:${site.port}/`, {
      allowPrivate: ['rebind.test'],
      fetch: { resolver },
    });
    expect(outcome).toContain('the page that was checked');
    expect(lookups).toBe(1);
  });

  it('are not made when a name changes its address between two hops', async () => {
    const secret = await startSecret();
    const site = await startSite((_request, response) => {
      response.writeHead(302, { location: `http://rebind.test:${secret.port}/again` }).end();
    });
    let lookups = 0;
    const resolver = async () => (lookups++ === 0 ? ['127.0.0.1'] : ['127.0.0.1', '169.254.169.254']);
    const outcome = await attempt(`http://rebind.test:${site.port}/`, {
      allowPrivate: [`rebind.test:${site.port}`],
      fetch: { resolver },
    });
    expect(outcome).toMatch(/^ToolError: rebind\.test has the address/);
    expect(lookups).toBe(2);
    expect(secret.seen).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'gopher://127.0.0.1:6379/_x', 'ftp://127.0.0.1/', 'data:text/plain,x'])(
    'are not made with another scheme on a redirect: %s',
    async (target) => {
      const site = await startSite(redirectHandler);
      const outcome = await attempt(site.url(`/to?${encodeURIComponent(target)}`), {
        allowPrivate: ['127.0.0.1'],
      });
      expect(outcome).toMatch(/^ToolError: .*Only http:\/\/ and https:\/\/ can/);
    },
  );
});
