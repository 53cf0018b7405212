/** What clients ask on the side, without their user: titles, summaries, checks of a command. */
import type { ConversationRequest } from '../../core/conversation.js';
import { PHRASES_OF } from './phrases.js';
import { ownWords, type Situation } from './read-conversation.js';
import { headline } from './topics.js';

interface SideRequest {
  when(situation: Situation, request: ConversationRequest): boolean;
  answer(situation: Situation, request: ConversationRequest): string;
}

const TITLE_WANTED =
  /\b(?:generate|write|create|produce|give|make|come\s+up\s+with)\b[^.\n]{0,80}\btitle\b|\btitle\b[^.\n]{0,40}\bfor\s+(?:this|the)\s+(?:following\s+)?(?:conversation|chat|session)|summari[sz]e\s+this\s+(?:coding\s+)?conversation\s+in\s+under|(?:生成|写|起|取)[^。\n]{0,12}标题/i;

const SIDE_REQUESTS: readonly SideRequest[] = [
  {
    // The safe answer: no prefix is known, so a person is asked about the whole command.
    when: ({ system, words }, { tools }) =>
      tools.length === 0 && /command_injection_detected/.test(`${system}\n${words}`),
    answer: () => 'none',
  },
  {
    when: ({ words }) =>
      /\bcreate\s+a\s+(?:detailed\s+)?summary\s+of\s+(?:the|our|this)\s+conversation|^summari[sz]e\s+(?:the|our|this)\s+conversation|^(?:请)?总结(?:一下)?(?:这段|以上|上面的)?对话/i.test(
        words,
      ),
    answer: summaryOf,
  },
  {
    when: ({ words }) => words.startsWith('[SUGGESTION MODE'),
    answer: () => '',
  },
  {
    when: ({ system, words, exchanges }, { tools }) =>
      tools.length === 0 && exchanges.length === 0 && TITLE_WANTED.test(`${system}\n${words.slice(0, 300)}`),
    answer: titleOf,
  },
];

/** Undefined where the request is none of these. */
export function answerSideRequest(situation: Situation, request: ConversationRequest): string | undefined {
  return SIDE_REQUESTS.find((each) => each.when(situation, request))?.answer(situation, request);
}

function titleOf({ system, words, language }: Situation): string {
  const isAsked = TITLE_WANTED.test(words.slice(0, 300));
  const subject = isAsked ? (/[:：]\s*([\s\S]+)$/.exec(words)?.[1] ?? words) : words;
  const title = headline(subject.replace(/^(?:user|human)\s*:\s*/i, '')) || PHRASES_OF[language].title;
  const prompt = `${system}\n${words}`;
  if (!/json/i.test(prompt)) return title;
  return JSON.stringify(/isNewTopic/.test(prompt) ? { isNewTopic: true, title } : { title });
}

const SUMMARY = { asks: 10, characters: 200, tools: 20 } as const;

function summaryOf({ language }: Situation, { messages }: ConversationRequest): string {
  const asks = messages
    .filter(({ role }) => role === 'user')
    .map((message) => ownWords(message).slice(0, SUMMARY.characters).replace(/\s+/g, ' '))
    .filter((words) => words !== '')
    // The last one is the request for the summary.
    .slice(0, -1)
    .slice(-SUMMARY.asks);
  const tools = new Set(
    messages.flatMap(({ content }) =>
      content.filter((block) => block.type === 'tool_use').map((block) => block.name),
    ),
  );
  return PHRASES_OF[language].summary(
    asks.map((words) => `- ${words}`).join('\n'),
    [...tools].slice(0, SUMMARY.tools).join(', '),
  );
}
