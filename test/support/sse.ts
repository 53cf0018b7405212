/** Event streams as a client sees them: parsed for assertions, and held to their protocol. */

export * from './validate-anthropic.js';
export * from './validate-chat.js';
export * from './validate-responses.js';
export { StreamViolation } from './violation.js';

export interface SseEvent {
  /** The `event:` field; empty where there was none. */
  event: string;
  data: string;
  /** The `id:` field, where there was one. */
  id?: string;
}

export interface ParsedSse {
  events: SseEvent[];
  /** Lines that begin with a colon, without it. */
  comments: string[];
  /** What stands after the last empty line: an event that was never finished. */
  rest: string;
}

/** Follows the standard: LF, CR and CRLF, a leading BOM, multi-line data, one optional space. */
export function parseSseText(text: string): ParsedSse {
  const events: SseEvent[] = [];
  const comments: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  let event = '';
  let id: string | undefined;
  let data: string[] = [];
  let rest: string[] = [];
  // The last element is what follows the last line end: nothing, or a line that was cut off.
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      if (data.length > 0) events.push({ event, data: data.join('\n'), ...(id === undefined ? {} : { id }) });
      event = '';
      id = undefined;
      data = [];
      rest = [];
      continue;
    }
    rest.push(line);
    const colon = line.indexOf(':');
    if (colon === 0) {
      comments.push(line.slice(1));
      continue;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }
  return { events, comments, rest: [...rest, lines.at(-1) ?? ''].join('\n') };
}

/** The events of a stream that is whole; throws where its last event was cut off. */
export function parseSse(text: string | Uint8Array): SseEvent[] {
  const { events, rest } = parseSseText(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
  if (rest !== '') throw new Error(`The stream ends inside an event: ${JSON.stringify(rest)}`);
  return events;
}
