/** A conversation as a file: what was said, which tools were called, and what they gave. */
import type { BlockWire } from '../../../src/activity/wire.js';
import type { MessageWire, SessionContentWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { saveText } from '../ui/save.js';

const PAGE = 1_000;

/** Rejects as the requests do. */
export async function exportSession(id: string, form: 'markdown' | 'json'): Promise<void> {
  const content = await readWhole(id);
  // A title may end in anything: the file is named by the session.
  const name = `session-${id.replaceAll(/[^\w-]/g, '')}`;
  if (form === 'markdown') saveText(`${name}.md`, 'text/markdown', markdownOf(content));
  else saveText(`${name}.json`, 'application/json', `${JSON.stringify(content, null, 2)}\n`);
}

async function readWhole(id: string): Promise<SessionContentWire> {
  const path = `/api/sessions/${encodeURIComponent(id)}?limit=${PAGE}`;
  const newest = await get<SessionContentWire>(path);
  let messages = newest.messages;
  let turns = newest.turns;
  for (let first = newest.total - PAGE; first > 0; first -= PAGE) {
    const earlier = await get<SessionContentWire>(`${path}&before=${first}`);
    messages = [...earlier.messages, ...messages];
    const known = new Set(turns.map(({ turn }) => turn));
    turns = [...earlier.turns.filter(({ turn }) => !known.has(turn)), ...turns];
  }
  return { ...newest, messages, turns };
}

export function markdownOf({ title, id, model, messages }: Exported): string {
  const head = `# ${(title ?? id).replaceAll(/\s+/g, ' ')}\n\n${model} · ${id}`;
  return `${[head, ...messages.flatMap(partsOf)].join('\n\n')}\n`;
}

type Exported = Pick<SessionContentWire, 'title' | 'id' | 'model' | 'messages'>;

function partsOf({ role, content }: MessageWire): string[] {
  const parts = content.flatMap(partOf);
  const isSaid = role === 'assistant' || content.some(({ type }) => type !== 'tool_result');
  return isSaid && parts.length > 0 ? [`## ${role === 'user' ? 'User' : 'Assistant'}`, ...parts] : parts;
}

function partOf(block: BlockWire): string[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [block.text];
    case 'tool_use':
      return [`**${block.name}**`, fenced(JSON.stringify(block.input, null, 2), 'json')];
    case 'tool_result': {
      const text = block.content.flatMap((part) => (part.type === 'text' ? [part.text] : [`[${part.type}]`]));
      return [fenced(text.join('\n'), '')];
    }
    case 'image':
    case 'document':
      return [`[${block.type}]`];
    default:
      return [];
  }
}

/** Longer than any in the text, so that nothing in it ends it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
