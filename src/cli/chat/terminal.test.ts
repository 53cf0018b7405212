import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openTerminal } from './terminal.js';

function terminalOf(isTTY = false) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = new PassThrough();
  return { input, output, terminal: openTerminal({ input, output, color: false }) };
}

describe('a terminal', () => {
  it('gives the lines in the order in which they were typed', async () => {
    const { input, terminal } = terminalOf();
    input.write('one\ntwo\n');
    expect(await terminal.ask('> ')).toBe('one');
    expect(await terminal.ask('> ')).toBe('two');
    terminal.close();
  });

  it('takes nothing for an answer that was typed before the question', async () => {
    const { input, terminal } = terminalOf();
    input.write('first\ny\n');
    expect(await terminal.ask('> ')).toBe('first');
    const answer = terminal.ask('? ', { fresh: true });
    input.write('n\n');
    expect(await answer).toBe('n');
    terminal.close();
  });

  it('takes several pasted lines for one answer, and a key that is pasted for none', async () => {
    const { input, terminal } = terminalOf(true);
    const answer = terminal.ask('> ');
    // In pieces, as it may come.
    for (const piece of ['see: \x1b[2', '00~one\r\ntwo\rth\x03ree\n\x1b[20', '1~ end', '\r'])
      input.write(piece);
    expect(await answer).toBe('see: one\ntwo\nthree\n end');
    terminal.close();
  });

  it('begins another line with Ctrl-J and Alt+Enter', async () => {
    const { input, terminal } = terminalOf(true);
    const answer = terminal.ask('> ');
    input.write('a\nb\x1b\rc\r');
    expect(await answer).toBe('a\nb\nc');
    terminal.close();
  });

  it('says that the input has ended', async () => {
    const { input, terminal } = terminalOf();
    const answer = terminal.ask('> ');
    input.end();
    expect(await answer).toBeUndefined();
    expect(await terminal.ask('> ')).toBeUndefined();
  });

  it('takes a question back, and the next line answers the next one', async () => {
    const { input, terminal } = terminalOf();
    const controller = new AbortController();
    const answer = terminal.ask('? ', { signal: controller.signal });
    controller.abort();
    expect(await answer).toBeUndefined();
    const next = terminal.ask('> ');
    input.write('text\n');
    expect(await next).toBe('text');
    terminal.close();
  });

  it('reads all of a pipe', async () => {
    const { input, terminal } = terminalOf();
    input.end('one\ntwo\n');
    expect(await terminal.readAll()).toBe('one\ntwo\n');
  });
});
