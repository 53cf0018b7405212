/**
 * Everything that a command may run, as far as its text determines it: what wrappers start, scripts in
 * quotes, `find -exec`. For rules that deny or ask, so it rather sees too much than too little.
 */
import { fileProgram } from './file-programs.js';
import { programName, programRow } from './flag-table.js';
import { executedValues } from './flags.js';
import { READ_ONLY_PROGRAMS } from './read-only.js';
import { sedOnlyPrints, sedScripts } from './sed-script.js';

/** Their first operand that is neither a flag, a value of one, a number nor an assignment is a command. */
const WRAPPERS = new Set(
  'env sudo doas timeout gtimeout nice ionice nohup setsid stdbuf time gtime command builtin exec xargs gxargs watch unshare nsenter strace ltrace script parallel caffeinate taskset chrt runuser su setpriv busybox toybox entr perf valgrind hyperfine systemd-run torsocks torify proxychains proxychains4 fakeroot rlwrap unbuffer coproc noglob nocorrect then do else'.split(
    ' ',
  ),
);

/** A command may follow anywhere after their own words. */
const ANYWHERE = new Set(
  'ssh mosh docker podman nerdctl kubectl flock chroot git npm pnpm yarn npx make bwrap firejail screen tmux at batch crontab trap hash enable bind complete compgen ld.so proot dbus-run-session xvfb-run run-parts ssh-agent autossh gdbserver start-stop-daemon daemonize gosu su-exec pkexec machinectl capsh sg newgrp nodemon concurrently direnv nix-shell nix uv poetry pipenv bundle ccache distcc ansible ansible-console docker-compose act pre-commit gnuplot mlr jupyter tig fzf sk hg'.split(
    ' ',
  ),
);
/** Of those, with which sub-commands; none: with any. */
const ANYWHERE_WITH: Readonly<Record<string, RegExp>> = {
  git: /^(?:bisect|submodule|rebase|difftool|filter-branch|config)$/,
  npm: /^(?:exec|x|explore)$/,
  pnpm: /^(?:exec|dlx)$/,
  yarn: /^(?:exec|dlx)$/,
};

/** Their operands are names of programs, processes or packages, and nothing that they start. */
const NAMES_ONLY = new Set(
  'pkill killall pgrep pidof whereis whatis apropos dpkg dpkg-query rpm apt-cache systemctl service journalctl logger'.split(
    ' ',
  ),
);
/** Programs that take commands of their own, among which is one that runs others. */
const TAKES_COMMANDS = new Set(
  'vi vim nvim ex ed view emacs nano less more most man socat expect gdb lldb m4 dc sqlite3 psql mysql mariadb'.split(
    ' ',
  ),
);

const SHELLS = new Set('bash sh zsh dash ksh mksh fish ash csh tcsh rbash busybox toybox'.split(' '));
/** Take a script in one of their words. */
const TAKES_SCRIPT = new Set([...SHELLS, ...WRAPPERS, ...ANYWHERE, 'eval']);
const EXEC_FLAG = /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/;
const LOOKS_LIKE_SCRIPT = /[\s;|&`()<>]/;

const MAX_DEPTH = 6;
const MAX_FOUND = 200;
/** Places in one command at which another may begin. */
const MAX_INNER = 40;

/** Reads a script into the words of its commands; words that are not literal stay as written. */
export type ReadScript = (script: string) => readonly (readonly string[])[];

interface Unwrapped {
  /** The command itself first. */
  commands: readonly (readonly string[])[];
  /** Code in another language, or from a place that is not the text, is run. */
  runsCode: boolean;
}

/** `guess`: of a program that nothing is known of, every word may be the one that it starts. */
export function unwrap(words: readonly string[], read: ReadScript, guess: boolean): Unwrapped {
  const found: (readonly string[])[] = [];
  let runsCode = false;
  const visit = (argv: readonly string[], depth: number): void => {
    const first = argv[0];
    if (first === undefined || found.length >= MAX_FOUND) return;
    found.push(argv);
    const program = programName(first);
    if (givesCode(program, argv)) runsCode = true;
    if (depth >= MAX_DEPTH) {
      runsCode = true;
      return;
    }
    const unknown = guess && nothingKnown(program, argv);
    const inside = innerCommands(program, argv, unknown);
    if (inside.length >= MAX_INNER || found.length >= MAX_FOUND) runsCode = true;
    for (const inner of inside) visit(inner, depth + 1);
    const scripts = unknown ? argv.slice(1).filter(looksLikeScript) : [];
    for (const script of [...scriptsIn(program, argv), ...scripts]) {
      for (const inner of read(script)) visit(inner, depth + 1);
    }
  };
  visit(words, 0);
  return { commands: found, runsCode };
}

function nothingKnown(program: string, argv: readonly string[]): boolean {
  return (
    programRow(program) === undefined &&
    fileProgram(program, argv) === undefined &&
    !READ_ONLY_PROGRAMS.has(program) &&
    !NAMES_ONLY.has(program)
  );
}

const looksLikeScript = (word: string): boolean => LOOKS_LIKE_SCRIPT.test(word);

function innerCommands(program: string, argv: readonly string[], anywhere: boolean): (readonly string[])[] {
  const inner: (readonly string[])[] = [];
  if (/^(?:g?find|bfs|fd|fdfind)$/.test(program)) {
    argv.forEach((word, at) => {
      if (inner.length >= MAX_INNER) return;
      if (EXEC_FLAG.test(word)) inner.push(argv.slice(at + 1));
      else if (/^--exec(?:-batch)?=/.test(word))
        inner.push([word.slice(word.indexOf('=') + 1), ...argv.slice(at + 1)]);
    });
  }
  // A script that an interpreter is given is run as well.
  if (programRow(program)?.operands === 'first') {
    const at = argv.findIndex((word, index) => index > 0 && !word.startsWith('-'));
    if (at !== -1 && /[./]/.test(argv[at] ?? '')) inner.push(argv.slice(at));
  }
  if (WRAPPERS.has(program)) inner.push(...behindFlags(argv));
  if (anywhere || (ANYWHERE.has(program) && isWithin(program, argv))) {
    for (let at = 1; at < argv.length && inner.length < MAX_INNER; at += 1) inner.push(argv.slice(at));
  }
  return inner;
}

function isWithin(program: string, argv: readonly string[]): boolean {
  const within = ANYWHERE_WITH[program];
  return within === undefined || argv.some((word) => within.test(word));
}

function behindFlags(argv: readonly string[]): (readonly string[])[] {
  const inner: (readonly string[])[] = [];
  let afterFlag = false;
  for (let at = 1; at < argv.length && inner.length < MAX_INNER; at += 1) {
    const word = argv[at] ?? '';
    if (word.startsWith('-')) {
      afterFlag = word !== '--' && !word.includes('=');
      continue;
    }
    if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word) || /^[\d.]+[smhd]?$/.test(word)) {
      afterFlag = false;
      continue;
    }
    inner.push(argv.slice(at));
    if (!afterFlag) break;
    afterFlag = false;
  }
  return inner;
}

function scriptsIn(program: string, argv: readonly string[]): string[] {
  if (program === 'eval') return [argv.slice(1).join(' ')];
  if (program === 'alias') return argv.map((word) => word.slice(word.indexOf('=') + 1));
  const scripts = executedValues(argv).flatMap(valuesIn);
  if (!TAKES_SCRIPT.has(program) || !isWithin(program, argv)) return scripts;
  scripts.push(
    ...argv
      .slice(1)
      .map((word) => word.replace(/^!/, ''))
      .filter(looksLikeScript),
  );
  if (SHELLS.has(program)) {
    const flag = argv.findIndex((word, at) => at > 0 && /^-[a-zA-Z]*c/.test(word));
    const script = flag === -1 ? undefined : argv[flag + 1];
    if (script !== undefined) scripts.push(script);
  }
  if (program === 'env') {
    for (const word of argv) {
      const split = /^(?:-[a-zA-Z]*S|--split-string=)(.+)$/s.exec(word)?.[1];
      if (split !== undefined) scripts.push(split);
    }
  }
  return scripts;
}

/** `core.pager=x`, `exec=x`, `!x`: the command may follow. */
function valuesIn(value: string): string[] {
  const found = [value];
  for (let at = value.indexOf('='); at !== -1 && found.length < MAX_INNER; at = value.indexOf('=', at + 1))
    found.push(value.slice(at + 1));
  return found.map((each) => each.replace(/^!/, ''));
}

/** Whether an interpreter gets its code on the command line or from its input. */
function givesCode(program: string, argv: readonly string[]): boolean {
  // Programs that run what they read; a name without a letter is what `xargs` puts another for.
  if (/^(?:source|\.|eval|[gmn]?awk|at|batch|crontab|parallel|expect|ed|ex|m4|dc|gdb)$/.test(program))
    return true;
  if (!/[\p{L}\d:[]/u.test(program)) return true;
  if (/^g?sed$/.test(program)) return !sedScripts(argv).every(sedOnlyPrints);
  if (TAKES_COMMANDS.has(program)) return argv.some((word, at) => at > 0 && /[\s!:|(]/.test(word));
  const row = programRow(program);
  if (row?.operands !== 'first' || row.executes === undefined) return false;
  const script = argv.findIndex((word, at) => at > 0 && !word.startsWith('-'));
  const flags = argv.slice(1, script === -1 ? undefined : script);
  return (
    script === -1 || flags.some((flag) => /^-[a-zA-Z]*[ceprEs]|^--(?:eval|print|exec|command|run)/.test(flag))
  );
}
