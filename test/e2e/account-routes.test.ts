/** Files, batches and skills of one account that keys of several tenants share: nothing of one reaches another. */
import { describe, expect, it } from 'vitest';
import { ask, open, upload } from './pass-through-harness.js';

const send = (url: string, who: string, path: string, type: string, body: string | Uint8Array) =>
  fetch(url + path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer k-${who}`, 'content-type': type },
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
    const batch = JSON.parse(await made.text()).id;
    expect((await ask(gateway, 'bob', 'POST', `/v1/batches/${batch}/cancel`)).status).toBe(200);
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

function deep(text: string): Buffer {
  return Buffer.from(`${'{"a":'.repeat(5000)}${text}${'}'.repeat(5000)}`);
}

function upperCase(text: string): Buffer {
  return Buffer.from(text.replace('input_file_id', 'Input_File_ID'));
}
