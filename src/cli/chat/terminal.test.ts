import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openTerminal } from './terminal.js';

function terminalOf() {
  const input = new PassThrough();
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
