/** The files that a command names, and what it does with them. */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { realTarget } from '../../workspace/real-path.js';
import {
  type Access,
  abbreviates,
  DEVICES,
  type FileProgram,
  FOLDER_FLAGS,
  fileProgram,
} from './file-programs.js';
import { programName, programRow } from './flag-table.js';
import { writesFiles } from './flags.js';
import { compileName } from './glob-name.js';
import type { Word } from './words.js';

export interface PathUse {
  /** Absolute; a `..` in it is left for the file system, which may see a link before it. */
  path: string;
  access: Access;
  /** The program is known to open it; otherwise it is a word that may be a path. */
  sure: boolean;
  /** Everything below it as well. */
  tree: boolean;
  /** It is moved or removed, with all that is in it. */
  removes: boolean;
  /** Of the word. */
  index: number;
}

const MAX_PIECES = 12;
/** Flags in one bundle in front of a value. */
const MAX_LETTERS = 6;
const MAX_PATH = 4_096;
/** A pattern that stands for more files than this is taken for all that is in its folder. */
const MAX_EXPANDED = 2_000;

/** `cwds`: every folder that the command may run in. */
export function pathsOf(words: readonly Word[], cwds: readonly string[], home: string): PathUse[] {
  const texts = words.map((word) => word.text);
  const program = programName(texts[0] ?? '');
  const row = fileProgram(program, texts);
  const folders = foldersOf(texts, cwds, home);
  const uses: PathUse[] = [];
  const { operands, pattern } = operandsIn(texts, row);
  const tree = treeOf(texts, row);
  const target = row?.into === true || row?.operands === 'copy' ? targetFlag(texts) : undefined;
  const last = target === undefined && operands.length > 1 ? operands.at(-1) : undefined;
  // What an interpreter runs, it does not write.
  const script = row === undefined && programRow(program)?.operands === 'first' ? operands[0] : undefined;
  const isOperand = new Set(operands);
  const writes = row?.operands === 'read' && writesFiles(texts);
  words.forEach((word, index) => {
    if (index === 0) {
      if (word.text.includes('/'))
        add(uses, word, word.text, { ...WORD, access: 'read', index }, folders, home);
      return;
    }
    if (row?.operands === 'none' || index === pattern) return;
    const operand = isOperand.has(index);
    const access =
      index === script ? 'read' : writes ? 'either' : accessOf(row, index === last, target !== undefined);
    const writing = row !== undefined && access !== 'read';
    for (const piece of piecesOf(word.text)) {
      const sure =
        row !== undefined &&
        ((operand && piece === word.text) ||
          /^(?:\/.|~|\.\.(?:\/|$))/.test(piece) ||
          (writing && word.text.startsWith('-')));
      const use = {
        access,
        sure,
        tree: tree && operand && !(row?.into === true && index === last),
        removes: operand && row?.removes !== undefined && (row.removes === 'all' || index !== last),
        index,
      };
      add(uses, word, piece, use, folders, home);
    }
  });
  if (tree && worksHere(texts, operands, row, folders)) {
    for (const path of folders)
      uses.push({ ...WORD, path, access: 'read', sure: true, tree: true, index: 0 });
  }
  if (row?.into === true) uses.push(...putInto(words, operands, target ?? last, tree, folders, home));
  if (operands.length === 0 && (program === 'cd' || program === 'chdir')) {
    uses.push({ ...WORD, path: home, access: 'read', sure: true, index: 0 });
  }
  return uses;
}

const WORD = { sure: false, tree: false, removes: false } as const;

/** The words of a redirection, an assignment or a loop. */
export function pathsOfWord(
  word: Word,
  access: Access,
  sure: boolean,
  cwds: readonly string[],
  home: string,
): PathUse[] {
  const uses: PathUse[] = [];
  for (const piece of sure ? [word.text] : piecesOf(word.text)) {
    add(uses, word, piece, { ...WORD, access, sure, index: 0 }, cwds, home);
  }
  return uses;
}

/** Everything in the folders, by a program that gets its names from elsewhere. */
export function wholeFolders(folders: readonly string[]): PathUse[] {
  return folders.map((path) => ({ ...WORD, path, access: 'read', sure: true, tree: true, index: 0 }));
}

function accessOf(row: FileProgram | undefined, last: boolean, targetFlagged: boolean): Access {
  if (row === undefined || row.operands === 'none') return 'either';
  if (row.operands !== 'copy') return row.operands;
  if (targetFlagged) return 'either';
  return last ? 'edit' : 'read';
}

function operandsIn(
  texts: readonly string[],
  row: FileProgram | undefined,
): { operands: number[]; pattern?: number } {
  const operands: number[] = [];
  const from = row?.from ?? 0;
  let wanted =
    row?.pattern !== undefined && !texts.some((text, at) => at > from && row.pattern?.test(text) === true);
  let pattern: number | undefined;
  let flagsOver = false;
  for (let at = from + 1; at < texts.length; at += 1) {
    const text = texts[at] ?? '';
    if (row?.leading === true && /^(?:-(?![HLP]$).|[(!]$)/.test(text)) break;
    if (text === '--' && !flagsOver) flagsOver = true;
    else if (!flagsOver && text.startsWith('-') && text !== '-') at += takesNext(text, row) ? 1 : 0;
    else if (wanted) {
      wanted = false;
      pattern = at;
    } else operands.push(at);
  }
  return pattern === undefined ? { operands } : { operands, pattern };
}

function takesNext(text: string, row: FileProgram | undefined): boolean {
  if (text.startsWith('--')) {
    return row?.valuedLong !== undefined && !text.includes('=') && abbreviates(text, row.valuedLong);
  }
  const valued = row?.valued;
  if (valued === undefined) return false;
  for (let at = 1; at < text.length; at += 1) {
    if (valued.includes(text.charAt(at))) return at === text.length - 1;
  }
  return false;
}

function treeOf(texts: readonly string[], row: FileProgram | undefined): boolean {
  const { tree } = row ?? {};
  return tree === undefined || tree === true ? tree === true : tree(texts);
}

/** Whether it works on the folder that it is in. `:/` and its like are git's names for all of it. */
function worksHere(
  texts: readonly string[],
  operands: readonly number[],
  row: FileProgram | undefined,
  folders: readonly string[],
): boolean {
  if (row?.here === undefined) return false;
  if (row.here === 'always') return true;
  const named = operands.map((at) => texts[at] ?? '');
  if (row.from !== undefined && named.some((text) => /^:|[*?[]/.test(text))) return true;
  return !named.some((text) => folders.some((folder) => exists(resolve(folder, text))));
}

/** The word with `-t folder` in it, or the next one. */
function targetFlag(texts: readonly string[]): number | undefined {
  const at = texts.findIndex(
    (text, index) =>
      index > 0 &&
      (/^-[a-zA-Z]*t/.test(text) || (/^--t/.test(text) && abbreviates(text, ['target-directory']))),
  );
  if (at === -1) return undefined;
  const text = texts[at] ?? '';
  return text.includes('=') || /^-[a-zA-Z]*t./.test(text) ? at : at + 1;
}

/** The files that come to be in a folder: `cp a/x .` writes `./x`. */
function putInto(
  words: readonly Word[],
  operands: readonly number[],
  target: number | undefined,
  tree: boolean,
  folders: readonly string[],
  home: string,
): PathUse[] {
  const word = target === undefined ? undefined : words[target];
  if (target === undefined || word === undefined) return [];
  const uses: PathUse[] = [];
  const use = { access: 'edit', sure: true, removes: false, index: target } as const;
  const sources = operands.filter((at) => at !== target).map((at) => words[at]);
  for (const folder of folders) {
    for (const name of /^-/.test(word.text) ? piecesOf(word.text) : [word.text]) {
      const into = absolute(known(name, word.literal, home) ?? '', folder, home);
      if (!isFolder(into)) continue;
      for (const source of sources) {
        if (source === undefined) continue;
        const from = absolute(source.text, folder, home);
        const paths = source.glob ? expand(from) : [from];
        // What is in the folder, not the folder itself: `x/.`, and `x/` for some.
        if (/(?:^|\/)\.{0,2}$/.test(source.text)) {
          if (tree) uses.push({ ...use, path: into, tree: true });
        } else {
          for (const path of paths)
            uses.push({ ...use, path: join(into, basename(path)), tree: tree && isFolder(path) });
        }
      }
    }
  }
  return uses;
}

/** Something else is there; what is not there yet may become a folder. */
export const isNoFolder = (path: string): boolean => exists(path) && !isFolder(path);

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Where names may be relative to: what the command runs in, and what its flags make of it. */
function foldersOf(texts: readonly string[], cwds: readonly string[], home: string): readonly string[] {
  const extra: string[] = [];
  texts.forEach((text, index) => {
    const match = index === 0 ? null : FOLDER_FLAGS.exec(text);
    const folder = match === null ? undefined : (match[1] ?? texts[index + 1]);
    if (folder !== undefined) for (const cwd of cwds) extra.push(absolute(folder, cwd, home));
  });
  return extra.length === 0 ? cwds : [...cwds, ...extra];
}

/** The word, and what in it may be a path of its own: `--file=x`, `-fx`, `@x`, `host:x`, `a,b`. */
function piecesOf(text: string): string[] {
  if (text.length > MAX_PATH) return [];
  const pieces = text.startsWith('-') ? [] : [text];
  // `-rtfolder`: which of the letters has a value is not known here.
  const letters = /^-[A-Za-z0-9]*/.exec(text)?.[0].length ?? 0;
  if (/^-[^-]./.test(text)) {
    for (let at = 2; at <= Math.min(Math.max(letters, 2), MAX_LETTERS); at += 1) pieces.push(text.slice(at));
  }
  if (/[=@:,]/.test(text))
    pieces.push(...text.split(/[=@:,]/).slice(text.startsWith('-') ? 1 : 0, MAX_PIECES));
  for (
    let at = text.indexOf('=');
    at !== -1 && pieces.length < MAX_PIECES * 2;
    at = text.indexOf('=', at + 1)
  ) {
    pieces.push(text.slice(at + 1));
  }
  return [...new Set(pieces)].filter((piece) => piece !== '' && piece !== '-' && !piece.includes('\n'));
}

function add(
  uses: PathUse[],
  word: Word,
  piece: string,
  use: Omit<PathUse, 'path'>,
  folders: readonly string[],
  home: string,
): void {
  if (piece.length > MAX_PATH) return;
  const whole = known(piece, word.literal, home);
  const text = whole ?? tailOf(piece);
  if (whole === undefined) use = { ...use, sure: false, tree: false };
  for (const folder of folders) {
    for (const name of text === undefined ? [] : inProcess(text, folder)) {
      const path = absolute(name, folder, home);
      if (DEVICES.test(path)) continue;
      if (!word.glob) uses.push({ ...use, path });
      else uses.push(...expanded(path, use));
    }
  }
}

/** The text after the last unknown part: `$X/.env` may be `./.env`. */
function tailOf(piece: string): string | undefined {
  const tail = piece.replace(/^.*(?:\$\{[^}]*\}|\$\w+|\$[@*#?$!-]|\)|`)/s, '').replace(/^\/+/, '');
  return tail === '' || tail === piece || /[$`]/.test(tail) ? undefined : tail;
}

/** `$HOME/x` is known although it is no literal; what has another variable in it is not. */
function known(piece: string, literal: boolean, home: string): string | undefined {
  if (literal) return piece;
  const text = piece.replace(/^\$(?:HOME|\{HOME\})(?=\/|$)/, home).replace(/^\$(?:PWD|\{PWD\})(?=\/|$)/, '.');
  return /[$`]|[<>]\(/.test(text) ? undefined : text;
}

/** `/proc/self/cwd` is the command's folder, not the gateway's. */
function inProcess(text: string, folder: string): string[] {
  const match = /^\/proc\/(?:self|thread-self|\d+)\/cwd(?=\/|$)/.exec(text);
  return match === null ? [text] : [`${folder}${text.slice(match[0].length)}`];
}

function absolute(text: string, cwd: string, home: string): string {
  if (text === '~' || text.startsWith('~/')) return resolve(home, text.slice(2));
  if (text === '~+' || text.startsWith('~+/')) return resolve(cwd, text.slice(3));
  if (/(?:^|\/)\.\.(?:\/|$)/.test(text)) return text.startsWith('/') ? text : `${cwd}/${text}`;
  return resolve(cwd, text);
}

function expanded(path: string, use: Omit<PathUse, 'path'>): PathUse[] {
  const files = expand(path);
  if (files.length < MAX_EXPANDED) return files.map((each) => ({ ...use, path: each }));
  return [{ ...use, path: path.slice(0, path.search(/\/[^/]*[*?[]/)) || '/', tree: true }];
}

/** The files that a pattern stands for now, as bash has it: a leading dot must be written. */
function expand(path: string): string[] {
  let found = ['/'];
  for (const name of path.split('/').filter((each) => each !== '')) {
    if (!/[*?[]/.test(name)) {
      found = found.map((folder) => (name === '..' ? dirname(realTarget(folder)) : join(folder, name)));
      continue;
    }
    const matches = compileName(name, false);
    const next: string[] = [];
    for (const folder of found) {
      for (const entry of list(folder)) {
        if ((entry.startsWith('.') && !name.startsWith('.')) || !matches(entry)) continue;
        next.push(join(folder, entry));
        if (next.length >= MAX_EXPANDED) return next;
      }
    }
    found = next;
  }
  return found.filter(exists);
}

export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
