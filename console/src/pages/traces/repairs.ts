/** The gateway's repairs of streams, in words, and which events each is about. */
import type { EventRole } from './event-words.js';

interface RepairWords {
  en: string;
  zh: string;
  /** Where it can be seen: on the side of the upstream, or in what was emitted. */
  side: 'upstream' | 'emitted';
  roles: readonly EventRole[];
}

const REPAIRS: Readonly<Record<string, RepairWords>> = {
  'after-end': {
    en: 'The upstream sent more after the end of its answer; it was left out.',
    zh: '上游在回答结束后又发送了内容，已忽略。',
    side: 'upstream',
    roles: ['end', 'stop'],
  },
  'second-start': {
    en: 'The upstream began its answer twice; the second beginning was left out.',
    zh: '上游两次开始回答，第二次开始已忽略。',
    side: 'upstream',
    roles: ['start'],
  },
  'second-stop': {
    en: 'The upstream gave more than one stop reason; the last one holds.',
    zh: '上游给出了多个停止原因，以最后一个为准。',
    side: 'upstream',
    roles: ['stop'],
  },
  'stop-reason': {
    en: 'The stop reason was missing or did not fit the answer; it was corrected.',
    zh: '停止原因缺失或与回答不符，已更正。',
    side: 'emitted',
    roles: ['stop'],
  },
  interleaved: {
    en: 'Parts of the answer arrived interleaved; they were put in order.',
    zh: '回答的各部分交错到达，已重新排成先后顺序。',
    side: 'upstream',
    roles: ['call', 'arguments', 'text'],
  },
  'input-after-end': {
    en: 'Arguments arrived for a call that had already ended; they were left out.',
    zh: '已结束的工具调用又收到了参数，已忽略。',
    side: 'upstream',
    roles: ['arguments'],
  },
  'parallel-call-dropped': {
    en: 'The model made several calls although only one was allowed; the others were left out.',
    zh: '只允许一个工具调用，但模型发出了多个，其余的已忽略。',
    side: 'upstream',
    roles: ['call'],
  },
  'missing-name': {
    en: 'A tool call had no name.',
    zh: '有一个工具调用没有名称。',
    side: 'upstream',
    roles: ['call'],
  },
  'missing-id': {
    en: 'A tool call had no id; it was given one.',
    zh: '有一个工具调用没有 ID，已补上。',
    side: 'emitted',
    roles: ['call'],
  },
  'duplicate-id': {
    en: 'Two tool calls had the same id; one of them was given a new one.',
    zh: '两个工具调用的 ID 相同，已为其中一个更换。',
    side: 'emitted',
    roles: ['call'],
  },
  'arguments-completed': {
    en: 'The arguments of a call were cut off; the JSON was completed.',
    zh: '工具调用的参数被截断，已补全 JSON。',
    side: 'emitted',
    roles: ['arguments'],
  },
  'arguments-trailing': {
    en: 'There was extra text after the arguments of a call; it was left out.',
    zh: '工具调用的参数后面有多余内容，已忽略。',
    side: 'upstream',
    roles: ['arguments'],
  },
  'arguments-broken': {
    en: 'The arguments of a call were not valid JSON; what could be read was kept.',
    zh: '工具调用的参数不是合法 JSON，保留了可读的部分。',
    side: 'emitted',
    roles: ['arguments', 'call'],
  },
  'arguments-unparsable': {
    en: 'The arguments of a call could not be read.',
    zh: '无法读取工具调用的参数。',
    side: 'emitted',
    roles: ['arguments', 'call'],
  },
  'arguments-not-an-object': {
    en: 'The arguments of a call were not an object; they were wrapped in one.',
    zh: '工具调用的参数不是对象，已放入一个对象中。',
    side: 'emitted',
    roles: ['arguments', 'call'],
  },
};

/** Undefined for an unknown kind, which is shown by its name. */
export function repairWords(kind: string): RepairWords | undefined {
  return Object.hasOwn(REPAIRS, kind) ? REPAIRS[kind] : undefined;
}

/** Roles of events that a repair may be about: its exact event is not recorded. */
export function repairedRoles(
  kinds: readonly string[],
  side: 'upstream' | 'emitted',
): ReadonlySet<EventRole> {
  return new Set(
    kinds.flatMap((kind) => {
      const words = repairWords(kind);
      return words?.side === side ? words.roles : [];
    }),
  );
}
