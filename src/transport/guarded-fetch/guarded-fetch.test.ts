import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeCertificate } from '../../../test/support/certificate.js';
import { closeSitesAfterEach, redirectHandler, startSite } from '../../../test/support/loopback-site.js';
import { pinnedLookup } from './address-policy.js';
import { FetchProblem } from './fetch-problem.js';
import { type GuardedFetchOptions, guardedFetch } from './guarded-fetch.js';

closeSitesAfterEach();
afterEach(() => void vi.useRealTimers());

const options = (more: Partial<GuardedFetchOptions> = {}): GuardedFetchOptions => ({
  signal: new AbortController().signal,
  env: {},
  ...more,
});

async function problemOf(work: Promise<unknown>): Promise<FetchProblem> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FetchProblem)) throw new Error(`expected a FetchProblem, got ${String(error)}`);
  return error;
}

describe('guardedFetch', () => {
  it('gives the page, its address and its head', async () => {
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('hello');
    });
    const page = await guardedFetch(site.url('/a?b=1#c'), options({ allowPrivate: [site.host] }));
    expect(page.body.toString()).toBe('hello');
    expect(page.status).toBe(200);
    expect(page.url.href).toBe(site.url('/a?b=1'));
    expect(page.hops).toEqual([site.url('/a?b=1')]);
    expect(site.seen).toEqual(['GET /a?b=1']);
  });

  it.each([
    'http://127.0.0.1',
    'http://127.1',
    'http://0x7f.1',
    'http://2130706433',
    'http://017700000001',
    'http://[::ffff:127.0.0.1]',
    'http://0.0.0.0',
  ])('does not connect to loopback as %s', async (origin) => {
    const site = await startSite((_request, response) => response.end('secret'));
    const problem = await problemOf(guardedFetch(`${origin}:${site.port}/`, options()));
    expect(problem.kind).toBe('refused');
    expect(site.seen).toEqual([]);
  });

  it('looks a name up once, and connects to the address that was checked', async () => {
    const site = await startSite((request, response) => response.end(`host ${request.headers.host}`));
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['169.254.169.254']];
    let asked = 0;
    const page = await guardedFetch(
      `http://rebind.test:${site.port}/`,
      options({
        allowPrivate: ['rebind.test'],
        resolver: async () => answers[asked++] ?? [],
      }),
    );
    expect(page.body.toString()).toBe(`host rebind.test:${site.port}`);
    expect(asked).toBe(1);
  });

  it('refuses a name with one private address among public ones', async () => {
    const problem = await problemOf(
      guardedFetch('http://mixed.example/', options({ resolver: async () => ['93.184.216.34', '10.0.0.1'] })),
    );
    expect(problem.kind).toBe('refused');
    expect(problem.message).toContain('mixed.example has the address 10.0.0.1');
  });

  it('does not let a listed name lead to the metadata service', async () => {
    const problem = await problemOf(
      guardedFetch(
        'http://wiki.test/',
        options({ allowPrivate: ['wiki.test'], resolver: async () => ['169.254.169.254'] }),
      ),
    );
    expect(problem.kind).toBe('refused');
  });

  it('checks every redirect before it is followed', async () => {
    const secret = await startSite((_request, response) => response.end('secret'));
    const site = await startSite(redirectHandler);
    for (const target of [
      secret.url('/'),
      `http://[::1]:${secret.port}/`,
      `http://0x7f.1:${secret.port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      `http://user:pass@${secret.host}/`,
      `//localhost:${secret.port}/`,
    ]) {
      const start = site.url(`/to?${encodeURIComponent(target)}`);
      const problem = await problemOf(guardedFetch(start, options({ allowPrivate: [site.host] })));
      expect([target, problem.kind]).toEqual([target, 'refused']);
    }
    expect(secret.seen).toEqual([]);
  });

  it('follows five redirects and no more', async () => {
    const site = await startSite((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('arrived');
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    const listed = options({ allowPrivate: [site.host] });
    const page = await guardedFetch(site.url('/5'), listed);
    expect(page.body.toString()).toBe('arrived');
    expect(page.hops).toHaveLength(6);
    expect((await problemOf(guardedFetch(site.url('/6'), listed))).kind).toBe('redirects');
  });

  it('asks before the first request to a further host, and once', async () => {
    const site = await startSite((request, response) => {
      if (request.url === '/end') response.end('end');
      else {
        const next = request.url === '/' ? `http://other.test:${site.port}/again` : '/end';
        response.writeHead(302, { location: next }).end();
      }
    });
    const asked: string[] = [];
    const page = await guardedFetch(
      `http://first.test:${site.port}/`,
      options({
        allowPrivate: ['first.test', 'other.test'],
        resolver: async () => ['127.0.0.1'],
        beforeHost: async (url) => {
          asked.push(`${url.href} after ${site.seen.length}`);
        },
      }),
    );
    expect(page.body.toString()).toBe('end');
    expect(asked).toEqual([`http://other.test:${site.port}/again after 1`]);
  });

  it('does not make the request that was refused, and passes the refusal on', async () => {
    const site = await startSite(redirectHandler);
    const refusal = new Error('no');
    const work = guardedFetch(
      `http://first.test:${site.port}/to?${encodeURIComponent(`http://other.test:${site.port}/x`)}`,
      options({
        allowPrivate: ['first.test', 'other.test'],
        resolver: async () => ['127.0.0.1'],
        beforeHost: () => Promise.reject(refusal),
      }),
    );
    await expect(work).rejects.toBe(refusal);
    expect(site.seen).toHaveLength(1);
  });

  it('does not count the time that a person takes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const site = await startSite((request, response) => {
      if (request.url === '/end') response.end('end');
      else response.writeHead(302, { location: `http://other.test:${site.port}/end` }).end();
    });
    const page = await guardedFetch(
      `http://first.test:${site.port}/`,
      options({
        allowPrivate: ['first.test', 'other.test'],
        resolver: async () => ['127.0.0.1'],
        beforeHost: async () => {
          vi.advanceTimersByTime(3_600_000);
        },
      }),
    );
    expect(page.body.toString()).toBe('end');
  });

  it('drops custom headers for good when a redirect leaves the origin', async () => {
    const other = await startSite((request, response) => {
      if (request.url === '/back') response.writeHead(302, { location: site.url('/end') }).end();
      else response.end();
    });
    const site = await startSite((request, response) => {
      if (request.url === '/same') response.writeHead(302, { location: '/away' }).end();
      else if (request.url === '/away') response.writeHead(302, { location: other.url('/back') }).end();
      else response.end('end');
    });
    await guardedFetch(
      site.url('/same'),
      options({
        allowPrivate: [site.host, other.host],
        headers: { authorization: 'Bearer secret', 'x-api-key': 'secret' },
      }),
    );
    const sent = (list: (typeof site)['headers']) =>
      list.map((each) => [each.authorization, each['x-api-key']]);
    const both = ['Bearer secret', 'secret'];
    expect(sent(site.headers)).toEqual([both, both, [undefined, undefined]]);
    expect(sent(other.headers)).toEqual([[undefined, undefined]]);
  });

  it('sends no cookies and no body back, only GET', async () => {
    const site = await startSite((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/end', 'set-cookie': 'a=b' }).end();
      else response.end();
    });
    await guardedFetch(site.url('/'), options({ allowPrivate: [site.host] }));
    expect(site.seen).toEqual(['GET /', 'GET /end']);
    expect(site.headers[1]?.cookie).toBeUndefined();
  });

  it('stops an endless body at the limit', async () => {
    const site = await startSite((_request, response) => {
      const part = Buffer.alloc(65_536, 97);
      const more = () => {
        while (!response.destroyed && response.write(part));
      };
      response.on('drain', more);
      more();
    });
    const work = guardedFetch(site.url('/'), options({ allowPrivate: [site.host], maxBytes: 1_000_000 }));
    expect((await problemOf(work)).kind).toBe('too-large');
  });

  it('takes a body of exactly the limit', async () => {
    const site = await startSite((_request, response) => response.end(Buffer.alloc(1000)));
    const page = await guardedFetch(site.url('/'), options({ allowPrivate: [site.host], maxBytes: 1000 }));
    expect(page.body.length).toBe(1000);
    const problem = await problemOf(
      guardedFetch(site.url('/'), options({ allowPrivate: [site.host], maxBytes: 999 })),
    );
    expect(problem.kind).toBe('too-large');
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(200_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
  ])('counts what a body unpacks to: %s', async (encoding, packed) => {
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(packed);
    });
    const problem = await problemOf(guardedFetch(site.url('/'), options({ allowPrivate: [site.host] })));
    expect(['too-large', 'malformed']).toContain(problem.kind);
  });

  it('reads a packed page', async () => {
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello'));
    });
    const page = await guardedFetch(site.url('/'), options({ allowPrivate: [site.host] }));
    expect(page.body.toString()).toBe('hello');
  });

  it('ends a body that drips without end', async () => {
    const site = await startSite((_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const work = guardedFetch(site.url('/'), options({ allowPrivate: [site.host], totalMs: 300 }));
    expect((await problemOf(work)).kind).toBe('timeout');
  });

  it('ends when a server never answers, and when a name is never looked up', async () => {
    const site = await startSite(() => {});
    const silent = guardedFetch(site.url('/'), options({ allowPrivate: [site.host], totalMs: 200 }));
    expect((await problemOf(silent)).kind).toBe('timeout');
    const lost = guardedFetch(
      'http://lost.example/',
      options({ resolver: () => new Promise(() => {}), totalMs: 100 }),
    );
    expect((await problemOf(lost)).kind).toBe('timeout');
  });

  it('ends at once when it is stopped', async () => {
    const controller = new AbortController();
    const site = await startSite(() => controller.abort());
    const work = guardedFetch(
      site.url('/'),
      options({ allowPrivate: [site.host], signal: controller.signal }),
    );
    expect((await problemOf(work)).kind).toBe('aborted');
  });

  it('does not read content that the caller refuses', async () => {
    const site = await startSite((_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' });
      response.flushHeaders();
    });
    const work = guardedFetch(
      site.url('/'),
      options({ allowPrivate: [site.host], refuseContent: ({ headers }) => `no ${headers['content-type']}` }),
    );
    const problem = await problemOf(work);
    expect([problem.kind, problem.message]).toEqual(['unsupported', 'no video/mp4']);
  });

  it('gives the beginning of an error page', async () => {
    const site = await startSite((_request, response) => response.writeHead(500).end('x'.repeat(100_000)));
    const page = await guardedFetch(site.url('/'), options({ allowPrivate: [site.host] }));
    expect([page.status, page.body.length]).toEqual([500, 8192]);
  });

  it('says what went wrong with a name or a connection', async () => {
    const missing = Object.assign(new Error('x'), { code: 'ENOTFOUND' });
    const problem = await problemOf(
      guardedFetch('http://nowhere.example/', options({ resolver: () => Promise.reject(missing) })),
    );
    expect(problem.message).toMatch(/nowhere\.example: the host name does not exist/);
    const closed = createServer();
    closed.listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const refused = await problemOf(
      guardedFetch(`http://127.0.0.1:${port}/`, options({ allowPrivate: ['127.0.0.1'] })),
    );
    expect(refused.message).toContain('nothing listens there');
  });

  it('keeps the name for TLS while it connects to the pinned address', async () => {
    const certificate = makeCertificate({ names: ['secure.test'] });
    const names: unknown[] = [];
    const server = createTlsServer(certificate, (request, response) => {
      names.push(Reflect.get(request.socket, 'servername'), request.headers.host);
      response.end('safe');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const secure = options({
      allowPrivate: ['secure.test', 'other.test'],
      resolver: async () => ['127.0.0.1'],
      ca: certificate.cert,
    });
    try {
      const page = await guardedFetch(`https://secure.test:${port}/`, secure);
      expect(page.body.toString()).toBe('safe');
      expect(names).toEqual(['secure.test', `secure.test:${port}`]);
      const wrong = await problemOf(guardedFetch(`https://other.test:${port}/`, secure));
      expect(wrong.message).toContain('certificate is for another host name');
    } finally {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  });
});

describe('through a proxy', () => {
  const viaProxy = async (resolver: GuardedFetchOptions['resolver'], address: string) => {
    const proxy = await startSite((request, response) => response.end(`proxied ${request.url}`));
    const work = guardedFetch(
      address,
      options({
        env: { http_proxy: `http://${proxy.host}` },
        ...(resolver === undefined ? {} : { resolver }),
      }),
    );
    return { proxy, work };
  };
  const missing = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));

  it('hands over a public name that is not known here', async () => {
    const { work } = await viaProxy(missing, 'http://page.example/x');
    expect((await work).body.toString()).toBe('proxied http://page.example/x');
  });

  it.each([
    ['http://10.0.0.1/', missing],
    ['http://169.254.169.254/', missing],
    ['http://localhost/', missing],
    ['http://db.internal/', missing],
    ['http://sneaky.example/', async () => ['10.0.0.1']],
  ])('does not hand over %s', async (address, resolver) => {
    const { proxy, work } = await viaProxy(resolver, address);
    expect((await problemOf(work)).kind).toBe('refused');
    expect(proxy.seen).toEqual([]);
  });

  it('says so when the proxy variable cannot be used', async () => {
    const problem = await problemOf(
      guardedFetch('http://page.example/', options({ env: { http_proxy: 'socks5://127.0.0.1:1' } })),
    );
    expect(problem.message).toContain('http_proxy');
  });
});

describe('pinnedLookup', () => {
  it('answers with the given addresses, whatever the name', () => {
    const answers: unknown[] = [];
    const lookup = pinnedLookup(['93.184.216.34', '2606:4700::1']);
    lookup('any.test', { all: true }, (...all) => answers.push(all));
    lookup('any.test', {}, (...all) => answers.push(all));
    expect(answers).toEqual([
      [
        null,
        [
          { address: '93.184.216.34', family: 4 },
          { address: '2606:4700::1', family: 6 },
        ],
      ],
      [null, '93.184.216.34', 4],
    ]);
  });
});
