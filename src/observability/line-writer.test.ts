import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/cleanup.js';
import { turnOfLoop } from '../../test/support/gate.js';
import { LineWriter } from './line-writer.js';

describe('LineWriter', () => {
  it('keeps the order of lines, however many come at once', async () => {
    const file = join((await tempFolder()).path, 'log');
    const fd = openSync(file, 'w');
    const writer = new LineWriter(fd);
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index} ${'é'.repeat(index % 50)}\n`);
    for (const line of lines) writer.write(line);
    await writer.idle(10_000);
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
    writer.write('more\n');
    await writer.idle(10_000);
    expect(readFileSync(file, 'utf8').endsWith('\nmore\n')).toBe(true);
    closeSync(fd);
  });

  it('is idle at once when there is nothing to write', async () => {
    await new LineWriter(2).idle(60_000);
  });

  it('goes on when its descriptor is gone', async () => {
    const file = join((await tempFolder()).path, 'log');
    const fd = openSync(file, 'w');
    closeSync(fd);
    const writer = new LineWriter(fd);
    writer.write('nobody hears this\n');
    await writer.idle(10_000);
  });

  it('does not wait for a reader that takes nothing, and says what was dropped', async () => {
    const path = join((await tempFolder()).path, 'pipe');
    execFileSync('mkfifo', [path]);
    // Both ends in one: a write without room says so instead of waiting.
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const writer = new LineWriter(fd);
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 20; count++) writer.write(line);
    const idle = writer.idle(20_000);
    const text = await readUntil(fd, 'nobody reads them"}\n');
    await idle;
    expect(text.length).toBeGreaterThan(8 * 1024 * 1024);
    expect(text.length).toBeLessThan(12 * 1024 * 1024);
    expect(text).toMatch(
      /\n{"level":"warn","dropped":1\d,"msg":"log lines were dropped: nobody reads them"}\n$/,
    );
    closeSync(fd);
  });
});

async function readUntil(fd: number, end: string): Promise<string> {
  const chunk = Buffer.alloc(1024 * 1024);
  let text = '';
  let tail = '';
  while (!tail.endsWith(end)) {
    try {
      const piece = chunk.toString('latin1', 0, readSync(fd, chunk));
      text += piece;
      tail = (tail + piece).slice(-end.length);
    } catch {
      // Nothing there yet: the writer has its turn.
      await turnOfLoop();
    }
  }
  return text;
}
