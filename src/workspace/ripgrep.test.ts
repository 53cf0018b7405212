import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filterLines, findRipgrep, type RipgrepOutcome, type RipgrepRequest, runRipgrep } from './ripgrep.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolgate-rg-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Ran extends RipgrepOutcome {
  records: string[];
}

async function run(args: readonly string[], more: Partial<RipgrepRequest> = {}): Promise<Ran> {
  const records: string[] = [];
  const outcome = await runRipgrep({
    args,
    cwd: folder,
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    maxBytes: 1_000_000,
    separator: '\n',
    onRecord: (record) => {
      records.push(record);
      return true;
    },
    ...more,
  });
  return { ...outcome, records };
}

describe('runRipgrep', () => {
  it('gives records as they come, and the status', async () => {
    await writeFile(join(folder, 'a'), 'one é\ntwo\nthree');
    expect(await run(['--no-filename', 'e', './'])).toMatchObject({
      ended: 'complete',
      code: 0,
      records: ['one é', 'three'],
    });
    expect(await run(['nothing', './'])).toMatchObject({ ended: 'complete', code: 1, records: [] });
    expect(await run(['(', './'])).toMatchObject({
      code: 2,
      messages: expect.stringContaining('unclosed group'),
    });
  });

  it('stops when enough has been read', async () => {
    await writeFile(join(folder, 'a'), 'line\n'.repeat(100_000));
    let taken = 0;
    const outcome = await run(['line', './'], {
      onRecord: () => {
        taken += 1;
        return taken < 3;
      },
    });
    expect([outcome.ended, taken]).toEqual(['enough', 3]);
  });

  it('stops when too much is printed', async () => {
    await writeFile(join(folder, 'a'), 'line\n'.repeat(100_000));
    expect((await run(['line', './'], { maxBytes: 1000 })).ended).toBe('overflow');
  });

  it('stops with its time and with its call', async () => {
    // Of an input that does not end, it waits for the rest.
    const waiting = { args: ['x', '/dev/zero'], timeoutMs: 100 };
    expect((await run(waiting.args, waiting)).ended).toBe('timed-out');
    const controller = new AbortController();
    const aborted = run(['--text', 'x', '/dev/zero'], { signal: controller.signal });
    controller.abort();
    expect((await aborted).ended).toBe('aborted');
  });

  it('takes no settings of the operator', async () => {
    await writeFile(join(folder, 'rc'), '--files-with-matches');
    await writeFile(join(folder, 'a'), 'needle');
    process.env['RIPGREP_CONFIG_PATH'] = join(folder, 'rc');
    try {
      expect((await run(['--no-filename', 'needle', './a'])).records).toEqual(['needle']);
    } finally {
      delete process.env['RIPGREP_CONFIG_PATH'];
    }
  });
});

describe('findRipgrep', () => {
  it('finds the one that comes with the gateway', async () => {
    expect(await findRipgrep({})).toMatchObject({ ok: true });
  });

  it("takes the operator's, and says where that is none", async () => {
    const own = await findRipgrep({});
    if (!own.ok) throw new Error(own.problem);
    expect(await findRipgrep({ TOOLGATE_RIPGREP: own.path })).toEqual(own);
    expect(await findRipgrep({ TOOLGATE_RIPGREP: 'rg' })).toMatchObject({ ok: false });
    expect(await findRipgrep({ TOOLGATE_RIPGREP: join(folder, 'none') })).toMatchObject({ ok: false });
  });
});

describe('filterLines', () => {
  const signal = new AbortController().signal;

  it('keeps the lines that match', async () => {
    expect(await filterLines('one\ntwo\nthree', '^t', signal)).toEqual({ ok: true, text: 'two\nthree' });
    expect(await filterLines('one', 'x', signal)).toEqual({ ok: true, text: '' });
    expect(await filterLines('--pre', '--pre', signal)).toEqual({ ok: true, text: '--pre' });
  });

  it('says what is wrong with a pattern', async () => {
    expect(await filterLines('one', '[', signal)).toMatchObject({
      ok: false,
      message: expect.stringContaining('unclosed'),
    });
  });

  it('is not slow for a pattern that is made to be', async () => {
    expect(await filterLines(`${'a'.repeat(30_000)}!`, '(a+)+$', signal)).toEqual({ ok: true, text: '' });
  });
});
