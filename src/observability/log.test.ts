import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { createLog } from './log.js';

/** What `use` logs, line by line. */
async function logged(
  options: { level: string; redact?: (line: string) => string },
  use: (log: ReturnType<typeof createLog>) => void,
): Promise<Record<string, unknown>[]> {
  const file = join((await tempFolder()).path, 'log');
  const fd = openSync(file, 'w');
  const log = createLog({ ...options, fd });
  use(log);
  await log.flush();
  const text = readFileSync(file, 'utf8');
  closeSync(fd);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('createLog', () => {
  it('writes one JSON line for each event, from its level on', async () => {
    const lines = await logged({ level: 'info' }, (log) => {
      log.debug({ a: 0 }, 'quiet');
      log.info({ a: 1 }, 'hello');
      log.warn({ a: 2 }, 'careful');
    });
    expect(lines).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), a: 1, msg: 'hello' },
      { level: 'warn', time: expect.any(String), a: 2, msg: 'careful' },
    ]);
  });

  it('logs a bug whole', async () => {
    const [line] = await logged({ level: 'error' }, (log) => {
      log.error({ err: new TypeError('broken', { cause: new Error('because') }) }, 'bug');
    });
    expect(line?.['err']).toMatchObject({ type: 'TypeError', message: expect.stringContaining('broken') });
    expect(JSON.stringify(line)).toContain('because');
    expect(JSON.stringify(line)).toContain('log.test.ts');
  });

  it('takes secrets out of whatever is logged', async () => {
    const redact = (line: string) => line.replaceAll('hunter2', '[redacted]');
    const lines = await logged({ level: 'info', redact }, (log) => {
      log.info({ path: '/x?key=hunter2', deep: { list: ['hunter2'] } }, 'hunter2');
      log.error({ err: new Error('hunter2') }, 'bug');
    });
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('is silent when told to be', async () => {
    expect(await logged({ level: 'silent' }, (log) => log.fatal({}, 'no'))).toEqual([]);
  });
});
