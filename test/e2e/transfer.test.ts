/** `toolgate backup`, `export` and `import`: of a store that a gateway runs on, cut off, and again. */
import { execFileSync } from 'node:child_process';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open/open-store.js';
import { TRANSFER_KINDS } from '../../src/store/transfer.js';
import { tempFolder } from '../support/cleanup.js';
import { runCommand, startTestGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const CONFIG = {
  server: { keys: [{ key: 'root-key', name: 'root', scopes: ['call', 'admin'] }] },
  models: { coder: { engine: 'native', upstream: 'demo', cwd: '.' }, demo: { upstream: 'demo' } },
  store: 'sqlite:./store.db',
};

async function run(folder: string, ...args: string[]) {
  const command = await runCommand({ folder, args: [...args, '--config', 'toolgate.yaml'] });
  const { code } = await command.exited;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

const call = (url: string, path: string, body?: object, key = 'root-key'): Promise<Response> =>
  fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const ask = async (url: string, content: string, key = 'root-key'): Promise<number> => {
  const answer = await call(
    url,
    '/v1/chat/completions',
    { model: 'coder', messages: [{ role: 'user', content }] },
    key,
  );
  await answer.text();
  return answer.status;
};

const titles = async (url: string): Promise<string[]> => {
  const { data }: { data: { title: string }[] } = JSON.parse(await (await call(url, '/api/sessions')).text());
  return data.map(({ title }) => title).toSorted();
};

async function inFolder(config: object = CONFIG): Promise<string> {
  const { path } = await tempFolder();
  await writeFile(join(path, 'toolgate.yaml'), JSON.stringify(config));
  return path;
}

async function withSessions(count: number): Promise<{ gateway: TestGateway; secret: string }> {
  const gateway = await startTestGateway({ config: CONFIG });
  for (let n = 0; n < count; n++) expect(await ask(gateway.url, `talk ${n}`)).toBe(200);
  const made = await call(gateway.url, '/api/keys', { name: 'ci' });
  const { secret }: { secret: string } = JSON.parse(await made.text());
  return { gateway, secret };
}

describe('backup', () => {
  it('of a store in use is whole, for its owner alone, and never in place of a file', async () => {
    const { gateway, secret } = await withSessions(2);
    expect(await run(gateway.folder, 'backup', 'copy.db')).toMatchObject({ code: 0 });
    expect((await stat(join(gateway.folder, 'copy.db'))).mode & 0o777).toBe(0o600);
    const again = await run(gateway.folder, 'backup', 'copy.db');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
    expect((await readdir(gateway.folder)).filter((name) => name.endsWith('.partial'))).toEqual([]);
    const copy = await startTestGateway({
      folder: gateway.folder,
      config: { ...CONFIG, store: 'sqlite:./copy.db' },
    });
    expect(await titles(copy.url)).toEqual(['talk 0', 'talk 1']);
    expect(await ask(copy.url, 'more', secret)).toBe(200);
  });

  it('says what is missing', async () => {
    const folder = await inFolder();
    const none = await run(folder, 'backup', 'copy.db');
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('There is no store')]);
    expect((await run(folder, 'backup')).code).toBe(2);
  });
});

describe('export and import', () => {
  it('move everything from a store in use to another, once however often', async () => {
    const { gateway, secret } = await withSessions(2);
    const exported = await run(gateway.folder, 'export', 'out.jsonl');
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining('session: 2') });
    const file = join(gateway.folder, 'out.jsonl');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).not.toContain(secret);
    const other = await inFolder();
    const first = await run(other, 'import', file);
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^(\d+) of \1 records were new/)]);
    expect((await run(other, 'import', file)).stdout).toMatch(/^0 of \d+ records/);
    const moved = await startTestGateway({ folder: other });
    expect(await titles(moved.url)).toEqual(['talk 0', 'talk 1']);
    expect(await ask(moved.url, 'with the key of before', secret)).toBe(200);
  });

  it('an import that was killed in the middle is finished by the next one', async () => {
    const { gateway } = await withSessions(5);
    await run(gateway.folder, 'export', 'out.jsonl');
    const text = await readFile(join(gateway.folder, 'out.jsonl'), 'utf8');
    // Enough that more than one transaction is needed.
    const lines = text.trimEnd().split('\n');
    const session = lines.find((line) => line.includes('"kind":"session"')) ?? '';
    const id = /"id":"(ses_[\w-]+)"/.exec(session)?.[1] ?? '';
    const more = Array.from({ length: 300 }, (_, n) => session.replaceAll(id, `ses_more${n}`));
    const records = [...lines.slice(1, -1), ...more];
    const whole = [lines[0], ...records, JSON.stringify({ end: { records: records.length } })].join('\n');
    const other = await inFolder();
    await writeFile(join(other, 'whole.jsonl'), whole);
    execFileSync('mkfifo', [join(other, 'pipe')]);
    const importing = await runCommand({
      folder: other,
      args: ['import', 'pipe', '--config', 'toolgate.yaml'],
    });
    const pipe = await open(join(other, 'pipe'), 'w');
    await pipe.write(`${[lines[0], ...records.slice(0, 250)].join('\n')}\n`);
    const count = async (): Promise<number> => {
      const store = await openStore(CONFIG.store, { baseDir: other });
      const counts = await Promise.all(TRANSFER_KINDS.map((kind) => store.transfer.count(kind)));
      await store.close();
      return counts.reduce((sum, each) => sum + each, 0);
    };
    await until(async () => (await count()) === 200);
    await importing.kill();
    await pipe.close();
    expect(await count()).toBe(200);
    const finished = await run(other, 'import', 'whole.jsonl');
    expect([finished.code, finished.stdout]).toEqual([
      0,
      expect.stringContaining(`${records.length - 200} of ${records.length} records were new`),
    ]);
    expect(await count()).toBe(records.length);
  });

  it.each([
    ['a newer format', '{"format":"toolgate-export","version":2}\n', ':1: it is written in format 2'],
    ['another file', 'hello\n', ':1: this is no JSON'],
    ['another JSON', '{"a":1}\n', ':1: this is no export of Toolgate'],
    ['a file that was cut off', '{"format":"toolgate-export","version":1}\n', 'ends early, behind 0 records'],
    [
      'a record that is none',
      '{"format":"toolgate-export","version":1}\n{"kind":"password"}\n',
      ':2: this is no record (kind',
    ],
    [
      'a row without a column',
      '{"format":"toolgate-export","version":1}\n{"kind":"rule","row":{"id":"x"}}\n{"end":{"records":1}}\n',
      'A row of rules has no rule',
    ],
  ])('%s is refused by name', async (_what, text, problem) => {
    const folder = await inFolder();
    await writeFile(join(folder, 'in.jsonl'), text);
    const refused = await run(folder, 'import', 'in.jsonl');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(problem)]);
  });
});
