import { describe, expect, it } from 'vitest';
import { BackgroundRun } from './background-run.js';

const LIMIT = 16 * 1024 * 1024;

/** Events of a mebibyte each, and the run that has taken them. */
function runWith(count: number, streams = true): { run: BackgroundRun; say(count: number): void } {
  const run = new BackgroundRun({
    id: 'resp_1',
    body: Buffer.alloc(0),
    headers: {},
    queued: { id: 'resp_1', status: 'queued', output: [] },
    streams,
  });
  const writer = run.stream();
  const delta = 'x'.repeat(1024 * 1024);
  const data = JSON.stringify({ type: 'response.output_text.delta', delta });
  const say = (more: number): void => {
    for (let said = 0; said < more; said += 1) {
      writer.write(`event: response.output_text.delta\ndata: ${data}\n\n`);
    }
  };
  say(count);
  return { run, say };
}

async function lengthFrom(run: BackgroundRun, after: number): Promise<number> {
  run.close();
  let length = 0;
  for await (const bytes of run.read(after)) length += bytes.length;
  return length;
}

describe('the events of an answer in the background', () => {
  it('are all there while they fit', async () => {
    const { run } = runWith(3);
    expect([run.holds(-1), run.log?.length]).toEqual([true, 5]);
    expect(await lengthFrom(run, -1)).toBeGreaterThan(3 * 1024 * 1024);
  });

  it('are held up to a limit: the newest stay, and who wants older ones is told', async () => {
    const { run } = runWith(100);
    expect([run.holds(-1), run.holds(101), run.log]).toEqual([false, true, undefined]);
    const first = Array.from({ length: 102 }, (_, at) => at).find((at) => run.holds(at)) ?? 0;
    const length = await lengthFrom(run, first);
    expect(length).toBeGreaterThan(LIMIT / 4);
    expect(length).toBeLessThanOrEqual(LIMIT);
  });

  it('end for a reader that fell too far behind, instead of leaving some out', async () => {
    const { run, say } = runWith(1);
    const reader = run.read(-1);
    await reader.next();
    say(100);
    await expect(reader.next()).rejects.toMatchObject({ code: 'invalid_request', param: 'stream' });
  });

  it('are not held where nobody may read them', async () => {
    const { run } = runWith(2, false);
    expect(run.log).toBeUndefined();
    expect(await lengthFrom(run, -1)).toBe(0);
  });
});
