/**
 * Conversations of any length and size. Every message begins with words of its own (which conversation,
 * which turn), so that nothing is the same as before but what a client really sends again.
 */
import { toChatMessages, toChatTools } from './chat-form.mjs';
import { NUMBER, prose, TOOL_NAMES, toolSchema } from './workload.mjs';

const RESULT_WORDS = 430;
const TOOLS = 14;

function tools(count) {
  return TOOL_NAMES.slice(0, count).map((name, index) => ({
    name,
    description: prose(110, index),
    input_schema: toolSchema(index),
  }));
}

/** An assistant's message with a call, and the user's with its result. */
function turnOf(conversation, turn, result) {
  const id = `toolu_${conversation}x${turn}`;
  const mark = `Conversation ${conversation}, turn ${turn}:`;
  const input = { file_path: `/home/dev/project/src/file-${conversation}-${turn}.ts`, limit: 200 };
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: `${mark} ${prose(40, turn)}` },
        { type: 'tool_use', id, name: TOOL_NAMES[turn % 2], input },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `${mark} ${result}` }] },
  ];
}

function messagesOf(conversation, turns, result) {
  const messages = [{ role: 'user', content: `修复 parser.ts — ${conversation} ${prose(60, 1)} 🙂` }];
  for (let turn = 1; turn <= turns; turn++) messages.push(...turnOf(conversation, turn, result));
  return messages;
}

/**
 * Turn `turn` of a conversation: all of its history again, 2.6 KB of it new. The mark for the prompt
 * cache stands on the last block, as agents put it, so it moves with every turn.
 */
export function growingRequest(client, conversation, turn) {
  const messages = messagesOf(conversation, turn, prose(RESULT_WORDS, 2));
  messages.at(-1).content.at(-1).cache_control = { type: 'ephemeral' };
  return encode(client, { messages, tools: tools(TOOLS), systemWords: 900 });
}

/** A request of about `bytes`. Its history is made of results of up to 32 KB, as files are that an agent reads. */
export function sizedRequest(client, conversation, bytes, stream = false) {
  const small = bytes < 20_000;
  const resultBytes = Math.min(32_768, Math.max(512, bytes / 40));
  const result = prose(resultBytes / 5, 2).slice(0, resultBytes);
  const bare = { stream, tools: tools(small ? 1 : TOOLS), systemWords: small ? 60 : 900 };
  const size = (turns) => {
    const messages = messagesOf(conversation, turns, result);
    messages.at(-1).content.push?.({ type: 'text', text: `Go on. ${NUMBER}` });
    return encode(client, { messages, ...bare });
  };
  const [none, one] = [size(1).length, size(2).length];
  return size(Math.max(1, 1 + Math.round((bytes - none) / (one - none))));
}

/** A plain talk of `count` messages, the last one the user's, without tools. */
export function talk(conversation, count) {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${index} of conversation ${conversation}. ${'Some words that were said in it. '.repeat(12)}`,
  }));
}

function encode(client, { messages, tools: offered, systemWords, stream = false }) {
  const system = [{ type: 'text', text: prose(systemWords, 4), cache_control: { type: 'ephemeral' } }];
  const body =
    client === 'anthropic'
      ? { model: 'claude-sonnet-5', max_tokens: 32000, stream, system, tools: offered, messages }
      : {
          model: 'gpt-5.4',
          max_completion_tokens: 32000,
          stream,
          messages: toChatMessages(system, messages),
          tools: toChatTools(offered),
        };
  return Buffer.from(JSON.stringify(body));
}
