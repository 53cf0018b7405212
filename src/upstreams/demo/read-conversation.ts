/** What the conversation comes to: the last thing the user asked, and what tools have answered since. */
import type {
  Block,
  ConversationRequest,
  DocumentBlock,
  ImageBlock,
  JsonObject,
  Message,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { type Language, languageOf } from './words.js';

/** A call with its result. */
export interface Exchange {
  name: string;
  input: JsonObject;
  result: ToolResultBlock;
}

export interface Situation {
  /** The user's own words; empty where there are none. */
  words: string;
  language: Language;
  /** Pictures and documents that came with the words. */
  media: readonly (ImageBlock | DocumentBlock)[];
  /** Since the words. */
  exchanges: readonly Exchange[];
  /** The tool that was called last before the words, for "and in Rome?". */
  lastTool: string | undefined;
  /** What the client has already put into the assistant's mouth. */
  prefill: string;
  system: string;
  cwd: string | undefined;
}

/** Text that clients put between a user's words; it is not the user speaking. */
const CLIENT_TAGS: readonly string[] = [
  'system-reminder',
  'local-command-stdout',
  'local-command-stderr',
  'local-command-caveat',
  'command-name',
  'command-message',
  'ide_opened_file',
  'ide_selection',
  'task-notification',
  'user-prompt-submit-hook',
  'environment_context',
  'user_instructions',
];

/** Longer messages are read at both ends: people put the question before or behind what they paste. */
const READ = { head: 1_500, tail: 500 } as const;
const MAX_EXCHANGES = 64;

export function readConversation(request: ConversationRequest): Situation {
  const { messages } = request;
  const at = messages.findLastIndex((message) => message.role === 'user' && ownWords(message) !== '');
  const spoken = messages[at];
  const words = spoken === undefined ? '' : shortened(ownWords(spoken));
  const system = request.system.map((block) => block.text).join('\n');
  const last = messages.at(-1);
  return {
    words,
    language: languageOf(words === '' ? system.slice(0, 500) : words),
    media: (spoken ?? messages.findLast((message) => message.role === 'user'))?.content.filter(isMedia) ?? [],
    exchanges: exchangesFrom(messages, Math.max(0, at)),
    lastTool: callsIn(messages.slice(0, Math.max(0, at))).at(-1)?.name,
    prefill: last?.role === 'assistant' ? textOf(last) : '',
    system,
    cwd: /^\s*(?:-\s*)?(?:Primary )?[Ww]orking directory:\s*(\S+)/m.exec(system)?.[1],
  };
}

/** The text of a user's message without what the client added. */
export function ownWords(message: Message): string {
  return stripTags(textOf(message)).trim();
}

function textOf(message: Message): string {
  return message.content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('\n');
}

/** Cut with indexOf: a pattern would be slow on a text full of tags that never close. */
export function stripTags(text: string): string {
  let rest = text;
  for (const tag of CLIENT_TAGS) {
    if (!rest.includes(`<${tag}`)) continue;
    let out = '';
    let from = 0;
    for (;;) {
      const open = rest.indexOf(`<${tag}`, from);
      const close = open < 0 ? -1 : rest.indexOf(`</${tag}>`, open);
      if (open < 0 || close < 0) break;
      out += rest.slice(from, open);
      from = close + tag.length + 3;
    }
    rest = out + rest.slice(from);
  }
  return rest;
}

function shortened(text: string): string {
  if (text.length <= READ.head + READ.tail) return text;
  return `${text.slice(0, READ.head)}\n${text.slice(-READ.tail)}`;
}

function isMedia(block: Block): block is ImageBlock | DocumentBlock {
  return block.type === 'image' || block.type === 'document';
}

function callsIn(messages: readonly Message[]): ToolUseBlock[] {
  return messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.filter((block) => block.type === 'tool_use') : [],
  );
}

/** Results in the message of the words itself count: clients send both together. */
function exchangesFrom(messages: readonly Message[], at: number): Exchange[] {
  const calls = new Map(callsIn(messages).map((call) => [call.id, call]));
  return messages
    .slice(at)
    .flatMap(({ content }) => content.filter((block) => block.type === 'tool_result'))
    .slice(-MAX_EXCHANGES)
    .map((result) => {
      const call = calls.get(result.toolUseId);
      return { name: call?.name ?? 'tool', input: call?.input ?? {}, result };
    });
}
