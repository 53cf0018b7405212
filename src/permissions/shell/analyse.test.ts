import { describe, expect, it } from 'vitest';
import { analyse, shellParser } from './analyse.js';

const words = async (command: string) => {
  const { commands } = analyse(await shellParser(), command);
  return commands.map((each) => each.words.map(({ text }) => text));
};

describe('an analysis', () => {
  it('finds every command, wherever it is', async () => {
    expect(await words('a && (b; c) | d & e')).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
    expect(await words('if a; then b; else c; fi')).toEqual([['a'], ['b'], ['c']]);
    expect(await words('f() { a; }; for x in 1; do b; done')).toEqual([['a'], ['b']]);
    expect(await words('A=$(a) b "$(c `d`)" <(e)')).toEqual([
      ['b', '$(c `d`)', '<(e)'],
      ['a'],
      ['c', '`d`'],
      ['d'],
      ['e'],
    ]);
    expect(await words('export A=b; unset C; [ -f x ] && y')).toEqual([['export'], ['unset'], ['['], ['y']]);
  });

  it('finds what is redirected, and words that come through variables', async () => {
    const analysis = analyse(
      await shellParser(),
      'A=.env cat < in > out 2>>err; for f in x y; do cat $f; done',
    );
    expect(analysis.redirects.map(({ target, writes }) => [target.text, writes])).toEqual([
      ['in', false],
      ['out', true],
      ['err', true],
    ]);
    expect(analysis.loose.map(({ text }) => text)).toEqual(['.env', 'x', 'y']);
    expect(analysis.unclear).toBe(false);
  });

  it('is unclear where the text does not tell what runs', async () => {
    const parser = await shellParser();
    for (const command of ['$x y', '"$x" y', '`x` y', "a 'b", 'a "b']) {
      expect(analyse(parser, command).unclear, command).toBe(true);
    }
  });

  const DEEP = 2_000;
  it.each([
    ['long', `echo ${'a'.repeat(70_000)}`],
    ['deep', `echo ${'$('.repeat(DEEP)}x${')'.repeat(DEEP)}`],
    ['deep, with brackets in quotes that seem to close it', `${'a ")" $('.repeat(DEEP)}x${')'.repeat(DEEP)}`],
    ['deep in expansions', `echo ${'${a:-'.repeat(DEEP)}x${'}'.repeat(DEEP)}`],
  ])('is given up where the text is too %s', async (_, command) => {
    expect(analyse(await shellParser(), command)).toMatchObject({
      ...{ plain: undefined, commands: [], unclear: true, tooMuch: true },
    });
  });

  it('goes as deep as people do', async () => {
    const command = `${'echo $('.repeat(20)}x${')'.repeat(20)}`;
    const { commands, tooMuch } = analyse(await shellParser(), command);
    expect([commands.length, tooMuch]).toEqual([21, false]);
  });

  it('is plain only where the grammar reads the same', async () => {
    const parser = await shellParser();
    const reads = (other: string) => ({ parse: () => parser.parse(other) });
    expect(analyse(reads('ls -l'), 'ls -l').plain).toBeDefined();
    for (const other of ['ls -l x', 'ls; x', 'ls > x', 'ls $x', 'ls "', 'A=b ls', '(ls -l)']) {
      expect(analyse(reads(other), 'ls -l').plain, other).toBeUndefined();
    }
    expect(analyse({ parse: () => undefined }, 'ls')).toMatchObject({ plain: undefined, tooMuch: true });
  });
});
