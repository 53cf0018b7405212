/** The files that a command names, and what it does with them. */
import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { realTarget } from '../../workspace/real-path.js';
import { compileName } from '../rules/glob-name.js';
import { type Access, DEVICES, type FileProgram, FOLDER_FLAGS, fileProgram } from './file-programs.js';
import { programName } from './flag-table.js';
import type { Word } from './words.js';

export interface PathUse {
  /** Absolute; a `..` in it is left for the file system, which may see a link before it. */
  path: string;
  access: Access;
  /** The program is known to open it; otherwise it is a word that may be a path. */
  sure: boolean;
  /** Everything below it as well. */
  tree: boolean;
  /** Of the word. */
  index: number;
}

const MAX_PIECES = 12;
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
  const operands = operandIndices(texts, row);
  const tree = treeOf(texts, row);
  const last = operands.at(-1);
  const isOperand = new Set(operands);
  words.forEach((word, index) => {
    if (index === 0) {
      if (word.text.includes('/'))
        add(uses, word, word.text, { access: 'read', sure: false, tree: false, index }, folders, home);
      return;
    }
    if (row?.operands === 'none') return;
    const operand = isOperand.has(index);
    if (row?.pattern !== undefined && !operand && !word.text.startsWith('-')) return;
    const access = accessOf(row, operand && index === last && operands.length > 1, texts);
    for (const piece of piecesOf(word.text)) {
      const sure =
        row !== undefined && ((operand && piece === word.text) || /^(?:\/.|~|\.\.(?:\/|$))/.test(piece));
      add(
        uses,
        word,
        piece,
        { access, sure, tree: tree && operand && (row?.operands !== 'copy' || access === 'read'), index },
        folders,
        home,
      );
    }
  });
  if (tree && operands.length === 0 && row?.here === true) {
    for (const path of folders) uses.push({ path, access: 'read', sure: true, tree: true, index: 0 });
  }
  if (operands.length === 0 && (program === 'cd' || program === 'chdir')) {
    uses.push({ path: home, access: 'read', sure: true, tree: false, index: 0 });
  }
  return uses;
}

/** What stands behind a redirection, an assignment or in a loop. */
export function pathsOfWord(
  word: Word,
  access: Access,
  sure: boolean,
  cwds: readonly string[],
  home: string,
): PathUse[] {
  const uses: PathUse[] = [];
  for (const piece of sure ? [word.text] : piecesOf(word.text)) {
    add(uses, word, piece, { access, sure, tree: false, index: 0 }, cwds, home);
  }
  return uses;
}

function accessOf(row: FileProgram | undefined, last: boolean, texts: readonly string[]): Access {
  if (row === undefined || row.operands === 'none') return 'either';
  if (row.operands !== 'copy') return row.operands;
  if (texts.some((text) => /^(?:-[a-zA-Z]*t|--target-directory)/.test(text))) return 'either';
  return last ? 'edit' : 'read';
}

function operandIndices(texts: readonly string[], row: FileProgram | undefined): number[] {
  const found: number[] = [];
  let pattern =
    row?.pattern !== undefined && !texts.some((text, at) => at > 0 && row.pattern?.test(text) === true);
  let flagsOver = false;
  texts.forEach((text, index) => {
    if (index === 0) return;
    if (text === '--' && !flagsOver) flagsOver = true;
    else if (!flagsOver && text.startsWith('-') && text !== '-') return;
    else if (pattern) pattern = false;
    else found.push(index);
  });
  return found;
}

function treeOf(texts: readonly string[], row: FileProgram | undefined): boolean {
  const { tree } = row ?? {};
  if (tree === undefined || tree === true) return tree === true;
  return texts.some((text, index) => index > 0 && tree.test(text));
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
  if (/^-[^-]./.test(text)) pieces.push(text.slice(2));
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
  const text = known(piece, word.literal, home);
  for (const folder of folders) {
    for (const name of text === undefined ? [] : inProcess(text, folder)) {
      const path = absolute(name, folder, home);
      if (DEVICES.test(path)) continue;
      if (!word.glob) uses.push({ ...use, path });
      else uses.push(...expanded(path, use));
    }
  }
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
export function expand(path: string): string[] {
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
