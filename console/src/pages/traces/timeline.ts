/** The pieces that went over the wire, as the events that they were. */
import { describeEvent, type EventRole } from './event-words.js';
import type { TracedPiece, TracePayload } from './payload.js';

export interface TraceEvent {
  index: number;
  /** Milliseconds since the request came in, when its last byte was there. */
  ms: number;
  type: string;
  /** What it says, on one line; empty where its type says all. */
  detail: string;
  role: EventRole;
  data: string;
}

export type Flow =
  | { kind: 'none' }
  | { kind: 'events'; events: readonly TraceEvent[] }
  /** An answer in one piece. */
  | { kind: 'body'; ms: number; text: string };

export function upstreamFlow({ timeline }: TracePayload, attempt: number): Flow {
  return flowOf(timeline.filter((piece) => piece.from === 'upstream' && (piece.attempt ?? 0) === attempt));
}

export function emittedFlow({ timeline }: TracePayload): Flow {
  return flowOf(timeline.filter((piece) => piece.from === 'gateway'));
}

function flowOf(pieces: readonly TracedPiece[]): Flow {
  if (pieces.length === 0) return { kind: 'none' };
  const decoder = new TextDecoder();
  const reader = new EventReader();
  let whole = '';
  for (const piece of pieces) {
    const text = decodePiece(piece.data, decoder);
    whole += text;
    reader.push(text, piece.ms);
  }
  const ms = pieces.at(-1)?.ms ?? 0;
  reader.end(ms);
  if (reader.events.length === 0) return { kind: 'body', ms, text: whole };
  return { kind: 'events', events: reader.events };
}

const BASE64 = 'base64:';

function decodePiece(data: string, decoder: TextDecoder): string {
  const bytes = data.startsWith(BASE64) ? bytesOf(data.slice(BASE64.length)) : new TextEncoder().encode(data);
  return decoder.decode(bytes, { stream: true });
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new TextEncoder().encode(base64);
  }
}

class EventReader {
  readonly events: TraceEvent[] = [];
  #rest = '';
  #event = '';
  #data: string[] = [];

  push(text: string, ms: number): void {
    this.#rest += text;
    // A CR at the end may be the first half of a line end.
    if (!/[\r\n]/.test(text) || this.#rest.endsWith('\r')) return;
    const lines = this.#rest.split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line, ms);
  }

  end(ms: number): void {
    for (const line of this.#rest.split(/\r\n|\r|\n/)) this.#line(line, ms);
    this.#dispatch(ms);
  }

  #line(line: string, ms: number): void {
    if (line === '') this.#dispatch(ms);
    else if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('event:')) this.#event = line.slice(line[6] === ' ' ? 7 : 6);
  }

  #dispatch(ms: number): void {
    const data = this.#data.join('\n');
    if (data !== '') {
      const { type, detail, role } = describeEvent(this.#event, data);
      this.events.push({ index: this.events.length, ms, type, detail, role, data });
    }
    this.#event = '';
    this.#data = [];
  }
}
