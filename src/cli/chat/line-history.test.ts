import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import { openLineHistory } from './line-history.js';

async function world() {
  const { path } = await tempFolder('toolgate-history');
  const redact = (text: string) => text.replaceAll('s3cret', '[redacted]');
  const env = { XDG_STATE_HOME: path };
  return { file: join(path, 'toolgate', 'chat-history'), open: () => openLineHistory(env, redact) };
}

it('keeps lines in their order, for the user alone and without secrets', async () => {
  const { file, open } = await world();
  const history = await open();
  expect(history.lines).toEqual([]);
  await Promise.all([history.add('one'), history.add('with s3cret'), history.add('three')]);
  expect((await open()).lines).toEqual(['one', 'with [redacted]', 'three']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('does not grow for ever', async () => {
  const { file, open } = await world();
  const { add } = await open();
  for (let index = 0; index <= 1000; index += 1) await add(`line ${index}`);
  expect((await open()).lines).toHaveLength(500);
  expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(501);
});

it('is no reason to end where it cannot be kept', async () => {
  const history = await openLineHistory({ XDG_STATE_HOME: '/dev/null/nowhere' }, (text) => text);
  await history.add('one');
  expect(history.lines).toEqual([]);
});
