/**
 * One message can ask for several things: "read a.txt and calculate 2*3", "weather in Paris and in
 * Tokyo", 北京和上海的天气. A part that names a tool is a request of its own; a part that names none
 * belongs to the request beside it.
 */
import { type Ask, askOf, type Message } from './ask.js';
import { type Choice, chooseTool, type Profile } from './choose-tool.js';

export interface ChosenAsk {
  ask: Ask;
  choice: Choice;
}

interface Part {
  start: number;
  end: number;
  /** A sentence ended in front of it: what stands there does not belong to it. */
  isSentence: boolean;
}

const SEPARATOR =
  /(?<sentence>[.!?。！？]+(?=\s|$|\p{Script=Han})|[;；\n]+)|,\s*(?:and\s+)?(?:then\s+)?(?:also\s+)?|[，、]|(?<=\s)(?:and\s+then|and\s+also|as\s+well\s+as|and|then|also|plus|&)(?=\s)|并且|然后|接着|以及|还有|另外|同时|和|与|跟|并|再/giu;
const MAX_PARTS = 12;

/** What is said belongs to the request before, whatever it speaks of. */
const CONTINUES =
  /^\s*(?:(?:say|saying|tell|telling|that|which|because|so\s+that|with|named|called|titled|containing)\b|说|告诉|内容|标题|主题|名为|名字|文件名?是)/i;

export function splitAsks(message: Message, profiles: readonly Profile[]): ChosenAsk[] {
  const groups: { start: number; end: number; choice: Choice }[] = [];
  let pendingStart: number | undefined;
  for (const { start, end, isSentence } of partsOf(message)) {
    if (isSentence) pendingStart = undefined;
    const current = groups.at(-1);
    const part = askOf(message, start, end);
    const choice =
      CONTINUES.test(part.text) && current !== undefined ? undefined : chooseTool(profiles, part, false);
    const isMore =
      current !== undefined &&
      choice?.profile === current.choice.profile &&
      (choice.filled.sure === 0 || !choice.isSaid);
    if (choice !== undefined && !isMore) {
      groups.push({ start: pendingStart ?? start, end, choice });
      pendingStart = undefined;
    } else if (current !== undefined && !isSentence) {
      current.end = end;
    } else if (current === undefined) {
      pendingStart ??= start;
    }
  }
  return groups.map(({ start, end, choice }) => ({ ask: askOf(message, start, end), choice }));
}

function partsOf({ text, facts }: Message): Part[] {
  const parts: Part[] = [];
  let start = 0;
  let isSentence = true;
  for (const match of text.matchAll(SEPARATOR)) {
    const end = match.index;
    const behind = end + match[0].length;
    if (facts.some((fact) => fact.start < behind && end < fact.end) || parts.length >= MAX_PARTS) continue;
    // A colon at the end of a line announces a text: all that follows is part of it.
    if (/[:：]\s*$/.test(text.slice(start, end))) break;
    const isBlank = text.slice(start, end).trim() === '';
    if (!isBlank) parts.push({ start, end, isSentence });
    isSentence = match.groups?.['sentence'] !== undefined || (isBlank && isSentence);
    start = behind;
  }
  if (text.slice(start).trim() !== '') parts.push({ start, end: text.length, isSentence });
  return parts;
}
