/** A command's output as the model and as people get it. */
import type { SandboxStatus, SetAside } from '../../sandbox/sandbox.js';
import { decodeOutput, type OutputSlice } from '../../workspace/process/output-buffer.js';
import {
  behindCode,
  looksBinary,
  plainText,
  resetBehind,
  withoutBegunCode,
} from '../../workspace/process/terminal-text.js';
import { headOf, tailOf, toLineEnd, toLineStart } from '../runtime/clean-text.js';
import { BASH_LIMITS } from './limits.js';

/** A cut moves this far at most to fall between two lines. */
const LINE_SLACK = 300;

interface PresentedOutput {
  /** For the model: plain text, bounded. */
  text: string;
  /** For people: with its terminal codes, bounded as well. */
  raw: string;
  /** `text` with its terminal codes, and as short; undefined where it has none. */
  shown: string | undefined;
  /** About how many characters are not in `text`. */
  omitted: number;
}

interface WholeLog {
  path: string;
  complete: boolean;
}

export function presentOutput(slice: OutputSlice, log: WholeLog | undefined): PresentedOutput {
  const { before, omitted, after } = decodeOutput(slice);
  if (looksBinary(before)) {
    const bytes = slice.before.length + slice.omitted + slice.after.length;
    const where = log === undefined ? 'Redirect it to a file to keep it.' : `It is in ${log.path}.`;
    return {
      text: `[Binary output of ${bytes} bytes, not shown. ${where}]`,
      raw: '',
      shown: undefined,
      omitted: bytes,
    };
  }
  const raw = bounded(before, after, omitted, BASH_LIMITS.dataChars, undefined);
  const plain = bounded(plainText(before), plainText(after), omitted, BASH_LIMITS.outputChars, log);
  const shown = withoutBegunCode(bounded(before, after, omitted, BASH_LIMITS.outputChars, log).text);
  return {
    text: plain.text,
    raw: raw.text,
    shown: shown === plain.text ? undefined : shown,
    omitted: plain.omitted,
  };
}

/** Head and tail, cut between lines where the end of one is near. */
function bounded(
  before: string,
  after: string,
  missing: number,
  limit: number,
  log: WholeLog | undefined,
): { text: string; omitted: number } {
  if (missing === 0 && before.length + after.length <= limit) return { text: before + after, omitted: 0 };
  const half = Math.floor(limit / 2);
  const whole = missing === 0 ? before + after : undefined;
  const head = withoutBegunCode(toLineEnd(headOf(whole ?? before, half), LINE_SLACK));
  const tail = toLineStart(behindCode(whole ?? after, tailOf(whole ?? after, half)), LINE_SLACK);
  const omitted = before.length + after.length + missing - head.length - tail.length;
  const note = `[About ${omitted} characters left out here.${whereIs(log)}]`;
  return {
    text: `${head}${resetBehind(head)}${head.endsWith('\n') ? '' : '\n'}\n${note}\n\n${tail}`,
    omitted,
  };
}

function whereIs(log: WholeLog | undefined): string {
  if (log === undefined) return '';
  if (log.complete) return ` The whole output is in ${log.path}: Read it with offset and limit, or Grep it.`;
  return ` It was too long to keep all of it: ${log.path} has the first part.`;
}

const SIGNS: readonly { says: RegExp; note: string }[] = [
  {
    says: /Could not resolve host|Temporary failure in name resolution|Network is unreachable|ENETUNREACH|EAI_AGAIN|getaddrinfo|Name or service not known|network is unreachable|Failed to connect/i,
    note: 'Commands have no network here. Fetch what is needed with WebFetch, or ask the user to run it.',
  },
  {
    says: /Read-only file system|EROFS/i,
    note: 'Commands can write only in the workspace and in /tmp, and not to files that run code later or decide what is allowed (.git/hooks, .git/config, settings of editors, agents, package managers and of the gateway). Change such a file with Edit or Write, which ask.',
  },
  {
    says: /Permission denied|Operation not permitted|EPERM|EACCES/i,
    note: 'Some files are hidden from commands: secrets, what the rules deny, and the settings of the gateway.',
  },
];

export function sandboxHint(status: SandboxStatus, failed: boolean, output: string): string | undefined {
  if (!status.active || !failed) return undefined;
  const sign = SIGNS.find(({ says }) => says.test(output));
  return sign === undefined ? undefined : `This may be the sandbox that commands run in. ${sign.note}`;
}

export function setAsideNote(files: readonly SetAside[]): string | undefined {
  if (files.length === 0) return undefined;
  return `Commands must not make or replace files that run code later or decide what is allowed: ${files.map(whatBecame).join('; ')}. Make such a file with Write, which asks.`;
}

function whatBecame(file: SetAside): string {
  switch (file.outcome) {
    case 'set-aside':
      return `${file.path} is now ${file.keptAs}`;
    case 'put-back':
      return `${file.path} is the link again that it was`;
    case 'left':
      return `${file.path} could not be moved and is still there: tell the user`;
  }
}
