/**
 * What about a call deserves a second look, from what it says it would do. A mark for people: it
 * decides nothing, and what it does not find is not thereby safe.
 */
import { homedir } from 'node:os';
import { isAbsolute, relative, resolve } from 'node:path';
import type { JudgedToolCall, Risk } from '../decision.js';
import { programName } from './flag-table.js';
import { readPlain } from './lexer.js';

/** Programs, or programs with their first words. */
const NETWORK: readonly string[] = [
  ...['curl', 'wget', 'ssh', 'scp', 'sftp', 'rsync', 'ftp', 'nc', 'telnet', 'ping', 'dig', 'nslookup'],
  ...['git clone', 'git fetch', 'git pull', 'git push', 'git ls-remote', 'gh', 'glab'],
  ...['npm install', 'npm i', 'npm ci', 'npm publish', 'npx', 'pnpm install', 'pnpm add', 'yarn add'],
  ...['pip install', 'pip3 install', 'uv pip', 'cargo install', 'cargo publish', 'go get', 'gem install'],
  ...['apt', 'apt-get', 'dnf', 'brew', 'docker pull', 'docker push', 'kubectl', 'aws', 'gcloud', 'az'],
];

const IRREVERSIBLE: readonly string[] = [
  ...['rm', 'rmdir', 'unlink', 'shred', 'dd', 'mkfs', 'truncate', 'kill', 'killall', 'pkill'],
  ...['git push', 'git reset', 'git clean', 'git checkout', 'git restore', 'git rebase', 'git stash drop'],
  ...['npm publish', 'cargo publish', 'docker push', 'docker rm', 'docker system', 'terraform destroy'],
  ...['kubectl delete', 'dropdb', 'shutdown', 'reboot'],
];

/** They run the words behind them. */
const WRAPPERS: ReadonlySet<string> = new Set([
  ...['sudo', 'env', 'nohup', 'time', 'xargs', 'command', 'exec', 'do', 'then', 'else'],
]);
const BREAKS = /[;&|\n(){}`]+|\$\(/;

export function risksOf({ readOnly, effects, location, hints = {} }: JudgedToolCall): Risk[] {
  const placed = effects.flatMap((effect) =>
    effect.kind === 'command' ? pathsIn(wordsIn(effect.command), effect.cwd) : [],
  );
  const commands = placed.map(({ words }) => words);
  const isOutside = (path: string): boolean => {
    const within = relative(location.root, path);
    return within === '..' || within.startsWith('../') || isAbsolute(within);
  };
  const found: Record<Risk, boolean> = {
    writes: effects.some(({ kind }) => kind === 'edit' || (kind === 'command' && !readOnly)),
    network: effects.some(({ kind }) => kind === 'fetch') || commands.some((words) => isOf(NETWORK, words)),
    outside:
      hints.blockedPath !== undefined ||
      effects.some((effect) => 'path' in effect && isOutside(effect.path)) ||
      effects.some((effect) => effect.kind === 'command' && isOutside(effect.cwd)) ||
      placed.some(({ paths }) => paths.some(isOutside)),
    irreversible: commands.some((words) => isOf(IRREVERSIBLE, words)),
  };
  return RISKS.filter((risk) => found[risk]);
}

const RISKS: readonly Risk[] = ['irreversible', 'outside', 'network', 'writes'];

function wordsIn(command: string): string[][] {
  const plain = readPlain(command);
  const lists = plain.plain
    ? plain.commands.map(({ words }) => [...words])
    : command.split(BREAKS).map((part) => part.trim().split(/\s+/));
  return lists.map(unwrapped).filter((words) => words.length > 0);
}

interface Placed {
  words: string[];
  /** Those of its words that lead somewhere by themselves. */
  paths: string[];
}

/** A `cd` moves the commands behind it. */
function pathsIn(commands: readonly string[][], from: string): Placed[] {
  let cwd = from;
  return commands.map((words) => {
    const [program, ...rest] = words;
    const paths = rest.flatMap((word) => pathOf(word, cwd) ?? []);
    const to = rest[0];
    if (program === 'cd' && to !== undefined) cwd = pathOf(to, cwd) ?? resolve(cwd, to);
    return { words, paths };
  });
}

/** Absolute, in the home folder, or with a `..`; also as the value of a flag. */
function pathOf(word: string, cwd: string): string | undefined {
  const path = word.replace(/^-[^=]*=/, '').replace(/['"]/g, '');
  const home = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/.exec(path)?.[0];
  if (home !== undefined) return resolve(homedir(), `.${path.slice(home.length)}`);
  return isAbsolute(path) || path.split('/').includes('..') ? resolve(cwd, path) : undefined;
}

function unwrapped(words: string[]): string[] {
  const at = words.findIndex((word) => !WRAPPERS.has(word) && !/^\w+=/.test(word) && !word.startsWith('-'));
  return at < 0 ? [] : words.slice(at);
}

function isOf(table: readonly string[], [program = '', ...rest]: readonly string[]): boolean {
  const line = [programName(program), ...rest.filter((word) => !word.startsWith('-'))].join(' ');
  return table.some((entry) => line === entry || line.startsWith(`${entry} `));
}
