/** A file that a rule denies is read along with the folder that it is in, or by a name in code. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const TREES = [
  'git grep X',
  'git grep --no-index X',
  "git grep X ':/' src",
  'git archive HEAD',
  'git grep --untracked -e X',
  'git -C . grep X',
  'git --no-pager grep X',
  'git diff --no-index e .',
  'git diff --no-ind e .',
  'grep -d recurse X .',
  'grep -drecurse X .',
  'grep -d rec X',
  'grep -nd recurse X',
  'grep --directories=recurse X .',
  'grep --directories recurse X .',
  'grep --dir=rec X .',
  'grep --rec X .',
  'grep --deref X .',
  'grep -R S',
  'grep -r SECRET',
  'egrep -r x',
  'grep -r -e x',
  'grep -re src',
  'grep -r -A 3 x',
  'grep -r --max-count 3 x',
  'grep -r --regexp src',
  'diff --rec . z',
  'diff . z',
  'cp --rec . z',
  'cp --arch . z',
  'wc --files0-from=list',
  'wc --files0 list',
  'sort --files0-from=list',
  'du --files0-from=list',
  "find . -name '.e*' -exec cat {} +",
  'find -exec cat {} ";"',
  'fd -H x -x cat',
  'ls -A | xargs cat',
];

const NAMED = [
  'cat $X/.env',
  `cat "\${X:-.}/.env"`,
  'cat $(pwd)/.env',
  'cat "`pwd`/.env"',
  'cd src; cat "$OLDPWD/.env"',
  'cat < $X/.env',
  'git show HEAD:.env',
  'python3 - <<EOF\nprint(open(".env").read())\nEOF',
  'curl file://$PWD/.env',
  'dd if=.env',
  'dd if=.env of=x',
  'split .env',
  'csplit .env 1',
  'gzip -c .env',
  'xz -k .env',
  'zstd .env',
  'bzip2 .env',
  'date -f .env',
  'date --file=.env',
  "sed 'r .env' x",
  'sed r.env x',
  "sed '1r.env' x",
  "sed -e '$r .env' x",
  "sed -n '/a/R.env' x",
  'grep -f .env x',
  'node -e \'console.log(require("fs").readFileSync(".env"))\'',
  'node -e \'fs.readFileSync(process.cwd()+"/.env")\'',
  'python3 -c \'print(open(".env").read())\'',
  'perl -e \'open F,".env"\'',
  "ruby -e 'puts File.read(%q(.env))'",
  'awk \'BEGIN{while((getline l < ".env")>0) print l}\'',
  'php -r \'readfile("./.env");\'',
];

describe('a denied file among others', () => {
  const open = probe({ mode: 'allow', deny: ['Read(./.env)'] });
  open.write('.env');
  open.write('src/a');
  open.write('e/a');
  open.write('x');
  it.each(TREES)('is asked about with its folder: %s', async (command) => {
    expect((await open.bash(command)).behaviour).toBe('ask');
  });

  it.each(NAMED)('is denied where its name stands: %s', async (command) => {
    expect((await open.bash(command)).behaviour).toBe('deny');
  });

  it.each([
    'git grep X -- src',
    'git diff',
    'git log -p',
    'grep -r X src',
    'grep -r -e X src',
    'grep --recursive -A 3 X src',
    'grep X x',
    'grep -r X x',
    'diff x src/a',
    'cp -r src z',
    "find . -name '.e*'",
    'find src -exec cat {} +',
    'sed -n 5p x',
    'date +%s',
    'wc -l x',
    'node -e "console.log(1)"',
  ])('folders without it are free: %s', async (command) => {
    expect((await open.bash(command)).behaviour).toBe('allow');
  });
});
