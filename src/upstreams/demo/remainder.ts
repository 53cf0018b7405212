/** The rest of a sentence: what a text parameter takes when nothing is named for it. */
import type { Ask, Candidate } from './ask.js';
import { topicOf, trimmed, unquoted } from './topics.js';
import { hasHan, isConceptWord, isStopWord, segment } from './words.js';

const LINK_BEFORE =
  /(?:\s+(?:to|into|in|for|at|on|from|with|of|as|by|and|or)(?:\s+(?:the|file|email|folder))*|[,，、]|到|成|为|给|在|和|与)\s*["'“]?$/i;
const LINK_BEHIND = /^["'”]?\s*(?:,|，|and\b|then\b|并|然后|和)*\s*/i;

/** What is left of the sentence without the values that other parameters took. */
export function remainder(ask: Ask, used: readonly Candidate[]): string {
  let { text } = ask;
  let isTopic = false;
  const object = /把\s*(.+?)\s*(?:翻译|译|转换|发送|发给|保存|写入|存到|总结)/s.exec(text)?.[1];
  if (object !== undefined) return unquoted(object);
  for (const { start, end } of [...used].sort((a, b) => b.start - a.start)) {
    const from = start - ask.start;
    const to = end - ask.start;
    if (from < 0 || to > text.length) continue;
    const before = text.slice(0, from);
    const behind = text.slice(to);
    const linked = before.replace(LINK_BEFORE, '');
    if (trimmed(behind) === '') {
      // "read a.txt" would leave nothing but the verb.
      if (!isOnlyVerb(before) || topicOf(linked, ask.toolWords) !== trimmed(linked)) text = linked;
    } else if (isOnlyVerb(before)) {
      text = behind.replace(LINK_BEHIND, '');
      isTopic = true;
    } else if (linked !== before) text = `${linked} ${behind.replace(/^["'”]?\s*/, '')}`;
  }
  return unquoted(isTopic ? trimmed(text) : topicOf(text, ask.toolWords));
}

/** "fetch …", "please read the file …": nothing that could be a value. */
function isOnlyVerb(text: string): boolean {
  const words = text.match(/[A-Za-z]+|\p{Script=Han}+/gu) ?? [];
  return words.every((word) =>
    hasHan(word)
      ? segment(word).every(({ kind }) => kind !== 'unknown')
      : isStopWord(word) || isConceptWord(word),
  );
}
