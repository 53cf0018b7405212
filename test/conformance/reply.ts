/** Replies of a case file as bytes of the upstream's wire. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { readRequest } from '../clients/read-request.js';
import { type AnswerOptions, type AnswerReply, answer } from '../support/replies.js';
import type { Part, Scripted } from '../support/scripted.js';
import type { RecordedRequest } from '../support/upstream-server.js';
import type { JsonRecord } from '../support/violation.js';
import {
  anthropicMessage,
  anthropicStream,
  chatCompletion,
  chatStream,
  responsesObject,
  responsesStream,
} from '../support/wire.js';
import type { ExactSpec, ReplySpec, ScriptedSpec } from './case-schema.js';
import type { WireName } from './dialects.js';
import { completeEvent, completeWhole, UPSTREAM_MODEL } from './wire-defaults.js';

/** What an upstream says where the case is not about its answer. */
export const PLAIN_REPLY: ReplySpec = { parts: [{ text: ['Fi', 'ne.'] }] };

const SSE = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json';

/** Whether the reply can be given so; an error is the same either way. */
export function hasForm(reply: ReplySpec, stream: boolean): boolean {
  if (isScripted(reply)) return true;
  if ((reply.status ?? 200) >= 300) return true;
  return reply.form !== undefined || (stream ? reply.sse : reply.whole) !== undefined;
}

/** A reply that may have to know the request: `{{tool.0}}` in it is the name of the first tool there. */
export type ReplyTo = (request: RecordedRequest) => AnswerReply;

export function replyIn(wire: WireName, reply: ReplySpec, stream: boolean): ReplyTo {
  if (isScripted(reply)) return scriptedReply(wire, reply, stream);
  const { form = stream ? 'sse' : 'whole', status = 200 } = reply;
  const events = form === 'sse' && status < 300 ? reply.sse : undefined;
  const text = events === undefined ? wholeText(wire, reply) : sseText(wire, events, reply);
  return (request) => send(fill(text, request), events === undefined ? JSON_TYPE : SSE, reply);
}

function fill(text: string, request: RecordedRequest): string {
  if (!text.includes('{{')) return text;
  const { tools } = readRequest(request);
  return text.replace(/\{\{tool\.(\d+)\}\}/g, (_, index) => tools[Number(index)] ?? 'missing');
}

const isScripted = (reply: ReplySpec): reply is ScriptedSpec => 'parts' in reply;

function send(text: string, type: string, reply: ExactSpec): AnswerReply {
  const { status, headers, end, write_size: writeSize, gzip = false } = reply;
  const options: AnswerOptions = {
    headers: {
      'content-type': type,
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      ...headers,
    },
    framing: 'chunked',
    ...(status === undefined ? {} : { status }),
    ...(end === undefined ? {} : { end }),
    ...(writeSize === undefined ? {} : { writeSize }),
  };
  return answer(gzip ? gzipSync(text) : text, options);
}

/** What a client reads of a reply, its compression undone. */
export function plainText({ body, headers = {} }: AnswerReply): string {
  const bytes = Buffer.concat(body.filter(isBytes).map((piece) => Buffer.from(piece)));
  return ('content-encoding' in headers ? gunzipSync(bytes) : bytes).toString('utf8');
}

const isBytes = (piece: AnswerReply['body'][number]): piece is string | Uint8Array =>
  typeof piece === 'string' || piece instanceof Uint8Array;

function wholeText(wire: WireName, { whole }: ExactSpec): string {
  if (whole === undefined) throw new Error('The reply has no whole form');
  return typeof whole === 'string' ? whole : JSON.stringify(completeWhole(wire, whole));
}

function sseText(wire: WireName, events: readonly (string | JsonRecord)[], options: ExactSpec): string {
  const { eol = '\n', tight = false } = options;
  const space = tight ? '' : ' ';
  return events
    .map((event, index) => {
      if (typeof event !== 'string' && typeof event['raw'] === 'string') return event['raw'];
      const data = typeof event === 'string' ? event : JSON.stringify(completeEvent(wire, event, index));
      const named = wire === 'chat' || typeof event === 'string' || event['type'] === undefined;
      const head = named ? '' : `event:${space}${event['type']}${eol}`;
      return `${head}data:${space}${data}${eol}${eol}`;
    })
    .join('');
}

// ── answers that are described once ───────────────────────────────────────────────────────────────

function scriptedReply(wire: WireName, spec: ScriptedSpec, stream: boolean): ReplyTo {
  const scripted = toScripted(spec);
  const text = stream ? streamOf(wire, scripted) : JSON.stringify(wholeOf(wire, scripted));
  return (request) => send(fill(text, request), stream ? SSE : JSON_TYPE, {});
}

function wholeOf(wire: WireName, scripted: Scripted): JsonRecord {
  if (wire === 'messages') return anthropicMessage(scripted);
  if (wire === 'responses') return responsesObject(scripted);
  return chatCompletion(scripted);
}

function streamOf(wire: WireName, scripted: Scripted): string {
  if (wire === 'messages') return anthropicStream(scripted);
  return wire === 'chat' ? chatStream(scripted, { usage: true }) : responsesStream(scripted);
}

function toScripted({ parts, stop, stop_sequence: stopSequence, usage }: ScriptedSpec): Scripted {
  return {
    model: UPSTREAM_MODEL,
    parts: parts.map(toPart),
    ...(stop === undefined ? {} : { stop }),
    ...(stopSequence === undefined ? {} : { stopSequence }),
    ...(usage === undefined
      ? {}
      : {
          usage: {
            input: usage.input,
            output: usage.output,
            cacheRead: usage.cache_read ?? 0,
            cacheWrite: usage.cache_write ?? 0,
            reasoning: usage.reasoning ?? 0,
          },
        }),
  };
}

function toPart(part: ScriptedSpec['parts'][number]): Part {
  if ('text' in part) return { type: 'text', text: part.text };
  if ('thinking' in part) {
    return {
      type: 'thinking',
      text: part.thinking,
      ...(part.signature === undefined ? {} : { signature: part.signature }),
    };
  }
  return { type: 'call', id: part.id, name: part.call, arguments: part.arguments };
}
