/** Rules that deny or ask about a command. They see through wrappers, paths and quotes. */
import type { RuleEntry } from '../rules/rule.js';
import { programPath, type RuleIndex } from '../rules/rule-index.js';
import type { CommandFile, CommandParts } from './command-parts.js';
import { fileRule } from './files.js';
import { byRule, type Finding, findRule, type Judging } from './judging.js';

const SHOWN = 120;

export function commandRule(
  judging: Judging,
  behaviour: 'deny' | 'ask',
  parts: CommandParts,
): Finding | undefined {
  const text = parts.analysis.command.trim();
  const bare = findRule(
    judging,
    behaviour,
    (index) => index.tool('Bash', judging.where) ?? index.command(text, judging.where),
  );
  if (bare !== undefined) return byRule(behaviour, bare, `the command \`${shorten(text)}\``);
  return (
    wordsRule(judging, behaviour, parts) ??
    filesRule(judging, behaviour, parts.files) ??
    hostsRule(judging, behaviour, parts)
  );
}

function wordsRule(judging: Judging, behaviour: 'deny' | 'ask', parts: CommandParts): Finding | undefined {
  for (const set of judging.sets) {
    const index = set[behaviour];
    if (!index.hasCommandRules) continue;
    for (const words of parts.running) {
      const entry = index.words(words, judging.where) ?? prefixRule(index, words, judging);
      if (entry !== undefined) return byRule(behaviour, entry, `\`${shorten(words.join(' '))}\``);
    }
    const among = index.among(parts.tokens, judging.where);
    if (among !== undefined) {
      return byRule(
        behaviour,
        among.entry,
        `\`${among.words.join(' ')}\`, which stands in a command that hides what it runs`,
      );
    }
  }
  return undefined;
}

function prefixRule(index: RuleIndex, words: readonly string[], judging: Judging): RuleEntry | undefined {
  for (const rule of index.prefixes(programPath(words[0] ?? ''), judging.where)) {
    if (beginsWith(words, rule.words)) return rule.entry;
  }
  return undefined;
}

/** Flags and what may be their values can stand between: `git -C x push` is `git push`. */
function beginsWith(words: readonly string[], rule: readonly string[]): boolean {
  let wanted = 1;
  for (let at = 1; wanted < rule.length; at += 1) {
    const word = words[at];
    if (word === undefined) return false;
    if (word === rule[wanted]) wanted += 1;
    else if (!word.startsWith('-')) return false;
    else if (words[at + 1]?.startsWith('-') === false && words[at + 1] !== rule[wanted]) at += 1;
  }
  return true;
}

function filesRule(
  judging: Judging,
  behaviour: 'deny' | 'ask',
  files: readonly CommandFile[],
): Finding | undefined {
  for (const { file, sure } of files) {
    const found = fileRule(judging, behaviour, file, sure);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hostsRule(
  judging: Judging,
  behaviour: 'deny' | 'ask',
  { hosts }: CommandParts,
): Finding | undefined {
  for (const { host, sure } of hosts) {
    const entry = findRule(
      judging,
      behaviour,
      (index) =>
        index.host(host, judging.where) ?? (sure ? index.tool('WebFetch', judging.where) : undefined),
    );
    if (entry !== undefined) return byRule(behaviour, entry, `reaching ${host}`);
  }
  return undefined;
}

export const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
