/**
 * Commands that certainly only read, for running them beside each other: one program of the table,
 * its listed flags, and plain words. Anything else counts as a change.
 */
const PLAIN_WORDS = /^[\w./,:@%+=~ -]+$/;

/** Flags as letters that may stand together, and long ones. Words without a dash are operands. */
const PROGRAMS: Readonly<Record<string, { letters: string; long?: readonly string[]; operands?: false }>> = {
  pwd: { letters: 'LP', operands: false },
  ls: { letters: '1aAdFhiklnrRsStuUXx', long: ['--all', '--human-readable', '--color=never', '--recursive'] },
  cat: { letters: 'AbEnsTv' },
  head: { letters: 'cnqv0123456789' },
  tail: { letters: 'cnqv0123456789' },
  wc: { letters: 'cLlmw', long: ['--lines', '--words', '--bytes'] },
  stat: { letters: 'Lft' },
  file: { letters: 'bhikLN' },
  du: { letters: 'abchkmsx', long: ['--max-depth=1', '--max-depth=2'] },
  df: { letters: 'ahikmT' },
  basename: { letters: 'as' },
  dirname: { letters: 'z' },
  realpath: { letters: 'emPqs' },
  readlink: { letters: 'efmn' },
  md5sum: { letters: 'bt' },
  sha256sum: { letters: 'bt' },
  whoami: { letters: '', operands: false },
  id: { letters: 'gGnru' },
  uname: { letters: 'amnoprsv', operands: false },
  nproc: { letters: '', long: ['--all'], operands: false },
};

export function isReadOnlyCommand(command: string): boolean {
  if (!PLAIN_WORDS.test(command)) return false;
  const [program = '', ...words] = command.trim().split(/ +/);
  const known = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined;
  if (known === undefined) return false;
  return words.every((word) => {
    if (word.startsWith('--')) return known.long?.includes(word) === true;
    if (word.startsWith('-'))
      return word.length > 1 && [...word.slice(1)].every((flag) => known.letters.includes(flag));
    return known.operands !== false;
  });
}
