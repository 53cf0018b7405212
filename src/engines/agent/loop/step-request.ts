/** The request of one model call of the agent, made from the client's own. */
import type {
  Block,
  ConversationRequest,
  Extensions,
  JsonObject,
  Message,
  TextBlock,
  ToolChoice,
  ToolDefinition,
} from '../../../core/conversation.js';

interface StepRequestParts {
  system: readonly TextBlock[];
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  toolChoice?: ToolChoice | undefined;
  cacheKey: string;
}

const ANTHROPIC = 'anthropic-messages';
const CACHE_CONTROL = 'cache_control';
const MARK: JsonObject = { type: 'ephemeral' };
/** The dialect takes four: after the agent's own prompt, after the whole system prompt, and two of these. */
const MARKED_USER_MESSAGES = 2;

/** Streamed whatever the client asked for: a long answer must not look like silence. */
export function stepRequest(request: ConversationRequest, parts: StepRequestParts): ConversationRequest {
  const { toolChoice: _choice, continues: _continues, ...kept } = request;
  const { toolChoice, cacheKey } = parts;
  return {
    ...kept,
    system: markEnds(parts.system.map(withoutMark)),
    messages: markNewest(parts.messages.map(unmarked)),
    tools: parts.tools.map(withoutMark),
    ...(toolChoice === undefined || parts.tools.length === 0 ? {} : { toolChoice }),
    extensions: withoutTopMark(request.extensions),
    cacheKey: request.cacheKey ?? cacheKey,
    stream: true,
  };
}

/** Cache breakpoints are the agent's: the client cannot know where its prompt and its calls begin and end. */
function withoutMark<T extends { extensions?: Extensions }>(item: T): T {
  const own = item.extensions?.[ANTHROPIC];
  if (own?.[CACHE_CONTROL] === undefined) return item;
  const { [CACHE_CONTROL]: _mark, ...rest } = own;
  return { ...item, extensions: { ...item.extensions, [ANTHROPIC]: rest } };
}

function withoutTopMark(extensions: Extensions): Extensions {
  const own = extensions[ANTHROPIC];
  if (own?.[CACHE_CONTROL] === undefined) return extensions;
  const { [CACHE_CONTROL]: _mark, ...rest } = own;
  return { ...extensions, [ANTHROPIC]: rest };
}

function isMarked(block: Block): boolean {
  return 'extensions' in block && block.extensions?.[ANTHROPIC]?.[CACHE_CONTROL] !== undefined;
}

function unmarked(message: Message): Message {
  if (!message.content.some(isMarked)) return message;
  return {
    ...message,
    content: message.content.map((block) => (block.type === 'opaque' ? block : withoutMark(block))),
  };
}

function marked<T extends { extensions?: Extensions }>(item: T): T {
  const { extensions } = item;
  return {
    ...item,
    extensions: { ...extensions, [ANTHROPIC]: { ...extensions?.[ANTHROPIC], [CACHE_CONTROL]: MARK } },
  };
}

/** The first block is the agent's own prompt, which every conversation of the model shares. */
function markEnds(system: readonly TextBlock[]): TextBlock[] {
  return system.map((block, index) => (index === 0 || index === system.length - 1 ? marked(block) : block));
}

/** The newest is what the next call reads, the one before it what this call reads. */
function markNewest(messages: readonly Message[]): Message[] {
  const out = [...messages];
  let left = MARKED_USER_MESSAGES;
  for (let index = out.length - 1; index >= 0 && left > 0; index -= 1) {
    const message = out[index];
    if (message?.role !== 'user') continue;
    const at = message.content.findLastIndex(isMarkable);
    if (at < 0) continue;
    out[index] = {
      ...message,
      content: message.content.map((block, position) =>
        position === at && block.type !== 'opaque' ? marked(block) : block,
      ),
    };
    left -= 1;
  }
  return out;
}

function isMarkable(block: Block): boolean {
  switch (block.type) {
    case 'text':
      return /\S/.test(block.text);
    case 'image':
    case 'document':
    case 'tool_result':
      return true;
    default:
      return false;
  }
}
