/** What clients see of a tool that the gateway ran in the place of a provider, and what models read of it later. */
import type { Block, DialectName, JsonObject, OpaqueBlock } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';

export interface Outcome {
  /** For the model. */
  text: string;
  /** In the words of Anthropic's wire; undefined where it went well. */
  error?: 'max_uses_exceeded' | 'unavailable' | 'invalid_tool_input' | 'url_not_allowed';
  /** What the tool says of it to people. */
  data?: JsonObject;
}

interface ShownCall {
  id: string;
  name: 'web_search' | 'web_fetch';
  input: JsonObject;
}

/** `encrypted_content` of the gateway's own: encoded, so that the next request brings it back. */
const OWN_CONTENT = 'tg1.';

export function shownBlocks(dialect: DialectName, call: ShownCall, outcome: Outcome): ModelEvent[] {
  const blocks =
    dialect === 'anthropic-messages' ? messagesBlocks(call, outcome) : responsesItems(call, outcome);
  return blocks.map((value) => ({
    type: 'block',
    block: { type: 'opaque', dialect, kind: String(value['type']), value },
  }));
}

function messagesBlocks({ id, name, input }: ShownCall, outcome: Outcome): JsonObject[] {
  const type = `${name}_tool_result`;
  const { error } = outcome;
  const content =
    error !== undefined
      ? { type: `${type}_error`, error_code: error }
      : name === 'web_search'
        ? hitsOf(outcome).map(searchResult)
        : fetchResult(outcome);
  return [
    { type: 'server_tool_use', id, name, input },
    { type, tool_use_id: id, content },
  ];
}

function hitsOf({ data }: Outcome): JsonObject[] {
  const { results } = data ?? {};
  return Array.isArray(results) ? results.filter(isObject) : [];
}

function searchResult({ title, url, snippet }: JsonObject): JsonObject {
  const content = Buffer.from(typeof snippet === 'string' ? snippet : '').toString('base64url');
  return {
    type: 'web_search_result',
    title,
    url,
    encrypted_content: `${OWN_CONTENT}${content}`,
    page_age: null,
  };
}

function fetchResult({ text, data }: Outcome): JsonObject {
  return {
    type: 'web_fetch_result',
    url: data?.['url'] ?? '',
    retrieved_at: new Date().toISOString(),
    content: {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: text },
      title: null,
    },
  };
}

/** OpenAI's wire has no fetch of its own: opening a page is an action of the search. */
function responsesItems({ id, name, input }: ShownCall, outcome: Outcome): JsonObject[] {
  const action =
    name === 'web_fetch'
      ? { type: 'open_page', url: input['url'] }
      : {
          type: 'search',
          query: input['query'],
          sources: hitsOf(outcome).map(({ url }) => ({ type: 'url', url })),
        };
  const status = outcome.error === undefined ? 'completed' : 'failed';
  return [{ type: 'web_search_call', id: id.replace(/^srvtoolu_/, 'ws_'), status, action }];
}

/** As words where they are of these tools; any other block as it is. */
export function readableBlock(block: OpaqueBlock): Block[] {
  const { kind, value } = block;
  if (kind === 'server_tool_use')
    return value['name'] === 'web_search' || value['name'] === 'web_fetch' ? [] : [block];
  if (kind === 'web_search_call') return [said(`Searched the web: ${JSON.stringify(value['action'] ?? {})}`)];
  if (kind === 'web_search_tool_result') return [said(`Found on the web:\n${foundText(value['content'])}`)];
  if (kind === 'web_fetch_tool_result') return [said(`Read on the web:\n${pageText(value['content'])}`)];
  return [block];
}

const said = (text: string): Block => ({ type: 'text', text: `[${text}]` });

function foundText(content: unknown): string {
  if (!Array.isArray(content)) return 'nothing, the search failed.';
  const lines = content.filter(isObject).map(({ title, url, encrypted_content: sealed }) => {
    const own =
      typeof sealed === 'string' && sealed.startsWith(OWN_CONTENT) ? sealed.slice(OWN_CONTENT.length) : '';
    return `${String(title)} ${String(url)} ${Buffer.from(own, 'base64url').toString('utf8')}`.trim();
  });
  return lines.length === 0 ? 'nothing.' : lines.join('\n');
}

function pageText(content: unknown): string {
  const document = isObject(content) && isObject(content['content']) ? content['content'] : {};
  const { data } = isObject(document['source']) ? document['source'] : {};
  return typeof data === 'string' ? data : 'nothing, the page could not be read.';
}
