/** Files, batches and skills of one account that keys of several tenants share: nothing of one reaches another. */
import { describe, expect, it } from 'vitest';
import { Account, ask, open, upload } from '../../e2e/pass-through-harness.js';
import type { TestGateway } from '../../support/gateway.js';
import { json } from '../../support/replies.js';
import { isRecord } from '../../support/violation.js';

const send = (url: string, who: string, path: string, type: string, body: string | Uint8Array) =>
  fetch(url + path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer k-${who}`, 'content-type': type },
  });

interface Listed {
  data: { id: string }[];
  last_id: string | null;
  has_more: boolean;
}

describe('a list of the account', () => {
  const ANTHROPIC = { 'anthropic-version': '2023-06-01' };

  /** The ids of all pages, and everything that the gateway said. */
  async function walk(
    gateway: TestGateway,
    who: string,
    { query, cursor }: { query: string; cursor: string },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ pages: string[][]; said: string }> {
    const pages: string[][] = [];
    let said = '';
    for (let next = ''; ; ) {
      const text = await (
        await ask(gateway, who, 'GET', `/v1/files?${query}${next}`, undefined, headers)
      ).text();
      said += text;
      const page: Listed = JSON.parse(text);
      pages.push(page.data.map(({ id }) => id));
      if (page.has_more !== true) return { pages, said };
      next = `&${cursor}=${page.last_id}`;
    }
  }

  it.each([
    ['OpenAI', 'after', {}],
    ['Anthropic', 'after_id', ANTHROPIC],
  ])(
    "has pages of the key's own rows, and no id of another's, on the wire of %s",
    async (_wire, cursor, wire) => {
      const { gateway, upstream } = await open();
      const made: Record<string, string[]> = { alice: [], bob: [] };
      for (let n = 0; n < 7; n += 1)
        for (const who of n === 3 ? ['alice', 'alice', 'bob'] : ['alice', 'bob'])
          made[who]?.push(await upload(gateway, who, wire));
      const way = { query: 'limit=3', cursor };
      const bob = await walk(gateway, 'bob', way, wire);
      expect(bob.pages).toEqual([made['bob']?.slice(0, 3), made['bob']?.slice(3, 6), made['bob']?.slice(6)]);
      for (const id of made['alice'] ?? []) expect(bob.said).not.toContain(`"${id}"`);
      expect(bob.said).not.toContain('"total":');
      // Without a limit a page has as many rows as the upstream gives at once.
      const whole = await walk(gateway, 'bob', { ...way, query: '' }, wire);
      expect([whole.pages.flat(), whole.pages[0]?.length]).toEqual([made['bob'], 2]);
      expect(upstream.requests.filter(({ method }) => method === 'GET').length).toBeLessThan(30);
      const nothing = await walk(gateway, 'admin', { ...way, query: '' }, wire);
      expect(JSON.parse(nothing.said)).toEqual({
        ...{ object: 'list', data: [], first_id: null, last_id: null, has_more: false },
      });
    },
  );

  it('goes backwards from a row as well', async () => {
    const { gateway } = await open();
    const own: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      await upload(gateway, 'alice', ANTHROPIC);
      own.push(await upload(gateway, 'bob', ANTHROPIC));
    }
    const page = async (query: string): Promise<unknown> =>
      (await ask(gateway, 'bob', 'GET', `/v1/files?${query}`, undefined, ANTHROPIC)).json();
    const rows = (...ids: (string | undefined)[]) => ids.map((id) => expect.objectContaining({ id }));
    expect(await page(`limit=3&before_id=${own[4]}`)).toMatchObject({
      data: rows(own[1], own[2], own[3]),
      ...{ first_id: own[1], last_id: own[3], has_more: true },
    });
    expect(await page(`limit=3&before_id=${own[1]}`)).toMatchObject({ data: rows(own[0]), has_more: false });
  });

  it('begins at no row of another key, and says the same of one that is not there', async () => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice');
    const before = upstream.requests.length;
    const statusOf = async (query: string) => (await ask(gateway, 'bob', 'GET', `/v1/files?${query}`)).status;
    expect([await statusOf(`after=${theirs}`), await statusOf('after=files-99')]).toEqual([404, 404]);
    expect(await statusOf('limit=0')).toBe(400);
    expect(upstream.requests).toHaveLength(before);
  });

  it('ends after some pages of others, with what was found', async () => {
    const { gateway, upstream } = await open();
    const own = await upload(gateway, 'bob');
    for (let n = 0; n < 60; n += 1) await upload(gateway, 'alice');
    const before = upstream.requests.length;
    const first: unknown = await (await ask(gateway, 'bob', 'GET', '/v1/files')).json();
    expect(first).toMatchObject({ data: [{ id: own }], last_id: own, has_more: true });
    expect(upstream.requests.length - before).toBe(20);
    const second: unknown = await (await ask(gateway, 'bob', 'GET', `/v1/files?after=${own}`)).json();
    expect(second).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
  });

  it.each([
    ['rows alone', '[{"id":"files-1"},{"id":"files-99"}]', 200, '[{"id":"files-1"}]'],
    [
      'marks of pages',
      '{"data":[{"id":"files-1"}],"has_more":true,"next_page":"p"}',
      200,
      '{"data":[{"id":"files-1"},{"id":"files-1"}],"has_more":false,"next_page":null}',
    ],
    ['something else', '{"files":[{"id":"files-99"}]}', 502, undefined],
  ])(
    "of an upstream that answers with %s shows what is the key's own",
    async (_what, body, status, shown) => {
      const account = new Account();
      const { gateway } = await open(true, undefined, (request) => {
        if (request.method !== 'GET') return account.answer(request);
        const page: unknown = JSON.parse(body);
        const isLast = request.path.endsWith('page=p');
        return json(isLast && isRecord(page) ? { ...page, has_more: false, next_page: null } : Object(page));
      });
      await upload(gateway, 'bob');
      const answer = await ask(gateway, 'bob', 'GET', '/v1/files');
      const text = await answer.text();
      expect(answer.status).toBe(status);
      expect(text).not.toContain('files-99');
      if (shown !== undefined) expect(text).toBe(shown);
    },
  );
});

describe('a body for the account', () => {
  it.each([
    ['UTF-16', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'), 'application/json', 400],
    ['UTF-16 by its charset', (text: string) => Buffer.from(text), 'application/json; charset=utf-16', 415],
    ['no JSON', (text: string) => Buffer.from(`${text},`), 'application/json', 400],
    ['JSON too deep', (text: string) => deep(text), 'application/json', 400],
    ['plain text', (text: string) => Buffer.from(text), 'text/plain', 415],
    ['a form that is none', (text: string) => Buffer.from(text), 'multipart/form-data; boundary=b', 400],
    ['a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`), 'application/json', 404],
    ['a field of another case', (text: string) => upperCase(text), 'application/json', 404],
  ])("as %s does not carry another key's file past the check", async (_what, write, type, status) => {
    const { gateway, upstream } = await open();
    const file = await upload(gateway, 'alice');
    const before = upstream.requests.length;
    const body = write(JSON.stringify({ input_file_id: file, endpoint: '/v1/responses' }));
    const answer = await send(gateway.url, 'bob', '/v1/batches', type, body);
    expect([answer.status, upstream.requests.length]).toEqual([status, before]);
  });

  it('is sent as it was read, so that a field which stands twice is one', async () => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice');
    const own = await upload(gateway, 'bob');
    const body = `\ufeff{"input_file_id":"${theirs}","input_file_id":"${own}"}`;
    const answer = await send(gateway.url, 'bob', '/v1/batches', 'application/json', body);
    expect(answer.status).toBe(200);
    expect(upstream.requests.at(-1)?.text).toBe(JSON.stringify({ input_file_id: own }));
  });

  it('may be left out where an action needs none, and not where something is made', async () => {
    const { gateway } = await open();
    const own = await upload(gateway, 'bob');
    const made = await ask(gateway, 'bob', 'POST', '/v1/batches', { input_file_id: own });
    const batch: { id: string } = JSON.parse(await made.text());
    expect((await ask(gateway, 'bob', 'POST', `/v1/batches/${batch.id}/cancel`)).status).toBe(200);
    expect((await ask(gateway, 'bob', 'POST', '/v1/batches')).status).toBe(400);
  });

  it("cannot name another key's file in a field of a form", async () => {
    const { gateway, upstream } = await open();
    const file = await upload(gateway, 'alice');
    const before = upstream.requests.length;
    for (const [name, value] of [
      ['file_id', file],
      ['files[][file_id]', file],
      ['about', JSON.stringify([{ file_id: file }])],
    ]) {
      const form = `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`;
      const answer = await send(gateway.url, 'bob', '/v1/skills', 'multipart/form-data; boundary=b', form);
      expect([name, answer.status, upstream.requests.length]).toEqual([name, 404, before]);
    }
  });
});

describe('the requests of a batch', () => {
  const line = (body: object) =>
    JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/responses', body });
  const uploaded = (url: string, who: string, text: string | Uint8Array, purpose = 'batch') => {
    const form = new FormData();
    form.set('file', new Blob([text]), 'a.jsonl');
    form.set('purpose', purpose);
    return fetch(`${url}/v1/files`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer k-${who}` },
    });
  };
  const input = (id: string) => [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }];

  it("cannot name what is not the key's own in a line of their file", async () => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice');
    const before = upstream.requests.length;
    const plain = line({ model: 'gpt-x', input: 'Hi' });
    for (const text of [
      line({ input: input(theirs) }),
      line({ input: input(theirs) }).replace('file_id', 'file\\u005fid'),
      line({ previous_response_id: 'resp_1' }),
      line({ conversation: 'conv_1' }),
      line({ conversation: { id: 'conv_1' } }),
      line({ input: [{ type: 'item_reference', id: 'msg_1' }] }),
    ]) {
      const answer = await uploaded(gateway.url, 'bob', `${plain}\r\n\n\ufeff${text}\n${plain}`);
      expect([text, answer.status]).toEqual([text, 404]);
    }
    const named = line({ input: input(theirs) });
    for (const text of [Buffer.from(named, 'utf16le'), `${plain}\n${named}}`, '\ufeff'.repeat(3) + named])
      expect((await uploaded(gateway.url, 'bob', text)).status).toBe(400);
    expect((await uploaded(gateway.url, 'bob', named, 'batch-api')).status).toBe(404);
    expect(upstream.requests).toHaveLength(before);
  });

  it('may name what the key has made, and are sent as they were read', async () => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice');
    const own = await upload(gateway, 'bob');
    const plain = '{"body": {"seed": 12345678901234567890, "input": "Hi"}}';
    const twice = `{"body":{"input":[{"file_id":"${theirs}","file_id":"${own}"}]}}`;
    expect((await uploaded(gateway.url, 'bob', `${plain}\n${twice}\n${plain}\n`)).status).toBe(200);
    const sent = upstream.requests.at(-1)?.text ?? '';
    expect(sent).toContain(`\r\n\r\n${plain}\n{"body":{"input":[{"file_id":"${own}"}]}}\n${plain}\n\r\n`);
    expect(sent).not.toContain(theirs);
  });

  it('may go on from an answer of the same key and the same end user alone', async () => {
    const account = new Account();
    const { gateway } = await open(true, undefined, (request) =>
      request.path.endsWith('/responses')
        ? json({
            id: 'resp_bob',
            object: 'response',
            status: 'completed',
            model: 'up',
            output: [],
            usage: null,
          })
        : account.answer(request),
    );
    const turn = { model: 'gpt-answers', input: 'Hi', user: 'eve' };
    expect((await ask(gateway, 'bob', 'POST', '/v1/responses', turn)).status).toBe(200);
    const goOn = (user: string) => line({ model: 'gpt-x', previous_response_id: 'resp_bob', user });
    expect((await uploaded(gateway.url, 'bob', goOn('eve'))).status).toBe(200);
    expect((await uploaded(gateway.url, 'bob', goOn('mallory'))).status).toBe(404);
    expect((await uploaded(gateway.url, 'alice', goOn('eve'))).status).toBe(404);
  });

  it("cannot name another key's file where they stand in the body", async () => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice', { 'anthropic-version': '2023-06-01' });
    const before = upstream.requests.length;
    const content = [{ type: 'document', source: { type: 'file', file_id: theirs } }];
    const requests = [{ custom_id: 'a', params: { messages: [{ role: 'user', content }] } }];
    expect((await ask(gateway, 'bob', 'POST', '/v1/messages/batches', { requests })).status).toBe(404);
    expect(upstream.requests).toHaveLength(before);
  });

  it('are looked for in no file of another purpose', async () => {
    const { gateway } = await open();
    const sound = new Uint8Array([0, 255, 254, 0]);
    expect((await uploaded(gateway.url, 'bob', sound, 'user_data')).status).toBe(200);
  });
});

describe('a request that names a model', () => {
  it.each([
    ['images', (id: string) => JSON.stringify({ model: 'gpt-x', images: [{ file_id: id }] })],
    ['a mask', (id: string) => JSON.stringify({ model: 'gpt-x', mask: { file_id: id } })],
    ['an escaped name', (id: string) => `{"model":"gpt-x","images":[{"\\u0066ile_id":"${id}"}]}`],
    ['a field of a form', (id: string) => form(['model', 'gpt-x'], ['image[file_id]', id])],
    ['JSON in a form', (id: string) => form(['model', 'gpt-x'], ['images', `[{"file_id":"${id}"}]`])],
  ])("cannot name another key's file, as %s", async (_what, write) => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice');
    const before = upstream.requests.length;
    const post = (id: string) => {
      const body = write(id);
      const type = body.startsWith('--b') ? 'multipart/form-data; boundary=b' : 'application/json';
      return send(gateway.url, 'bob', '/v1/images/edits', type, body);
    };
    expect([(await post(theirs)).status, upstream.requests.length]).toEqual([404, before]);
    // One that nobody made here may have been made elsewhere with the same account.
    expect((await post('file-elsewhere')).status).toBe(200);
  });

  it.each([
    ['/v1/images/edits', (field: string) => `{"model":"gpt-x","images":[{${field}}]}`],
    [
      '/v1/chat/completions',
      (field: string) =>
        `{"model":"gpt-x","messages":[{"role":"user","content":[{"type":"file","file":{${field}}}]}]}`,
    ],
  ])('sends a file that stands twice to %s as it was checked', async (path, write) => {
    const { gateway, upstream } = await open();
    const theirs = await upload(gateway, 'alice');
    const own = await upload(gateway, 'bob');
    const body = write(`"file_id":"${theirs}","file_id":"${own}"`);
    await send(gateway.url, 'bob', path, 'application/json', body);
    const sent = upstream.requests.at(-1);
    expect(sent?.path).toBe(path);
    expect(sent?.text).toContain(own);
    expect(sent?.text).not.toContain(theirs);
  });

  const form = (...fields: [string, string][]) =>
    `${fields
      .map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('')}--b--\r\n`;
});

describe('an Idempotency-Key', () => {
  it.each([
    ['/v1/files', {}],
    ['/v1/embeddings', { model: 'embed-x', input: 'a' }],
    ['/upstream/openai/embeddings', { model: 'embed-x', input: 'a' }],
  ])('of two keys is not the same for the upstream of %s', async (path, body) => {
    const { gateway, upstream } = await open();
    const keys = path.startsWith('/upstream') ? ['admin', 'root'] : ['alice', 'bob'];
    for (const who of [...keys, ...keys])
      await ask(gateway, who, 'POST', path, body, { 'idempotency-key': 'once-1' });
    const sent = upstream.requests.map(({ headers }) => headers['idempotency-key']);
    expect(sent.slice(2)).toEqual(sent.slice(0, 2));
    expect(new Set(sent).size).toBe(2);
    for (const each of sent) expect(each).toMatch(/^[\w-]{43}$/);
  });
});

describe('figures of an upstream', () => {
  it('that a batch repeats are counted for nobody, however often it is looked at', async () => {
    const { gateway } = await open();
    const own = await upload(gateway, 'bob');
    const made = await ask(gateway, 'bob', 'POST', '/v1/batches', { input_file_id: own });
    const batch: { id: string } = JSON.parse(await made.text());
    for (let n = 0; n < 3; n += 1) await ask(gateway, 'bob', 'GET', `/v1/batches/${batch.id}`);
    await ask(gateway, 'admin', 'GET', `/upstream/openai/batches/${batch.id}`);
    const used = await (await ask(gateway, 'admin', 'GET', '/api/usage?by=key')).text();
    expect(used).toContain('"bob"');
    expect(used.match(/"(?:input|output)_tokens":[1-9]\d*/g) ?? []).toEqual([]);
  });

  it.each([1e30, 1.5, Number.MAX_SAFE_INTEGER])(
    'that are no counts of tokens (%s) cost nobody a row of usage',
    async (figure) => {
      const account = new Account();
      const { gateway } = await open(true, undefined, (request) =>
        request.path.endsWith('/rerank')
          ? json({ usage: { prompt_tokens: figure, total_tokens: figure } })
          : account.answer(request),
      );
      await ask(gateway, 'bob', 'POST', '/v1/rerank', { model: 'gpt-x' });
      await ask(gateway, 'alice', 'POST', '/v1/embeddings', { model: 'embed-x', input: 'a' });
      const used = await ask(gateway, 'admin', 'GET', '/api/usage?by=key');
      const text = await used.text();
      expect(text).toContain('"alice"');
      expect(text).toContain('"bob"');
      expect(text).toMatch(/"input_tokens":40\b/);
      expect(text).not.toContain(String(figure));
    },
  );
});

function deep(text: string): Buffer {
  return Buffer.from(`${'{"a":'.repeat(5000)}${text}${'}'.repeat(5000)}`);
}

function upperCase(text: string): Buffer {
  return Buffer.from(text.replace('input_file_id', 'Input_File_ID'));
}
