import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSseText } from '../../../test/support/sse.js';
import { AnswerCollector } from '../../core/answer-collector.js';
import type { AssistantMessage, Block, JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LossLog } from '../../core/losses.js';
import { STANDARD_QUIRKS } from '../shared/quirks.js';
import { ToolNames } from '../shared/tool-names.js';
import { openaiResponses } from './index.js';
import { sealProof } from './reasoning.js';
import { nameLimits } from './wire.js';

const { ingress, egress } = openaiResponses;
const ANSWER = { model: 'm', requestId: 'r', created: 0 };

const words = fc.string({ minLength: 1, unit: 'grapheme' });
const name = fc.stringMatching(/^[a-zA-Z0-9-]{1,20}$/);
const id = fc.stringMatching(/^[a-z0-9]{6,20}$/);
const json = fc.dictionary(
  name,
  fc.jsonValue().map((each) => JSON.parse(JSON.stringify(each))),
  { maxKeys: 3 },
);
const optional = (key: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> =>
  fc.option(value, { nil: undefined }).map((each) => (each === undefined ? {} : { [key]: each }));
const joined = (...parts: fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(...parts).map((each) => Object.assign({}, ...each));

// ── bodies of this wire, in the form that the encoder writes ─────────────────────────────────────

const inputText = words.map((text) => ({ type: 'input_text', text }));
const inputImage = joined(
  fc.constant({ type: 'input_image' }),
  fc.webUrl().map((url) => ({ image_url: url })),
  optional('detail', fc.constantFrom('low', 'high')),
);
const inputFile = fc.base64String({ minLength: 4 }).map((data) => ({
  type: 'input_file',
  filename: 'a.pdf',
  file_data: `data:application/pdf;base64,${data}`,
}));
const parts = fc.array(fc.oneof(inputText, inputImage, inputFile), { minLength: 1, maxLength: 3 });

const userItem = joined(
  fc.constant({ type: 'message', role: 'user' }),
  optional('id', id),
  parts.map((content) => ({ content })),
);
const developerItem = joined(
  fc.constant({ type: 'message', role: 'developer' }),
  fc.array(inputText, { minLength: 1, maxLength: 2 }).map((content) => ({ content })),
);
const messageItem = joined(
  fc.constant({ type: 'message', role: 'assistant' }),
  optional('id', id),
  optional('phase', fc.constantFrom('commentary', 'final_answer')),
  fc
    .array(
      fc.oneof(
        words.map((text) => ({ type: 'output_text', text })),
        words.map((refusal) => ({ type: 'refusal', refusal })),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((content) => ({ content })),
);
const reasoning = joined(
  fc.constant({ type: 'reasoning' }),
  id.map((each) => ({ id: `rs_${each}` })),
  fc.array(words, { maxLength: 2 }).map((texts) => ({
    summary: texts.map((text) => ({ type: 'summary_text', text })),
  })),
  id.map((each) => ({ encrypted_content: `gAAA${each}` })),
);
const called = fc
  .tuple(
    id,
    name,
    optional('namespace', name),
    fc.oneof(
      json.map((input) => ({ type: 'function_call', arguments: JSON.stringify(input) })),
      json.map((input) => ({ type: 'function_call', arguments: JSON.stringify(input, null, 1) })),
      words.map((input) => ({ type: 'custom_tool_call', input })),
    ),
    fc.oneof(words, parts),
  )
  .map(([callId, tool, more, call, output]): JsonObject[] => [
    { ...call, call_id: callId, name: tool, ...more },
    { type: `${call.type}_output`, call_id: callId, output: plain(output) },
  ]);
const answered = fc
  .tuple(fc.array(reasoning, { maxLength: 1 }), fc.array(messageItem, { maxLength: 2 }), called)
  .map(([thought, said, [call = {}, output = {}]]): JsonObject[] => [...thought, ...said, call, output]);
const opaqueItem = id.map((each) => ({ type: 'item_reference', id: each }));
const turns = fc.oneof(
  userItem.map((item) => [item]),
  developerItem.map((item) => [item]),
  answered,
  opaqueItem.map((item) => [item]),
);

/** Texts among the parts of a result are put together, so a result of texts alone is one text. */
function plain(output: string | readonly JsonObject[]): unknown {
  if (typeof output === 'string') return output;
  const texts = output.filter(({ type }) => type === 'input_text').map(({ text }) => text);
  const others = output.filter(({ type }) => type !== 'input_text');
  if (others.length === 0) return texts.join('\n');
  return texts.length === 0 ? others : [{ type: 'input_text', text: texts.join('\n') }, ...others];
}

const tool = fc.oneof(
  fc.tuple(name, json, fc.boolean()).map(([each, properties]) => ({
    type: 'function',
    name: each,
    parameters: { type: 'object', properties },
    strict: false,
  })),
  name.map((each) => ({ type: 'custom', name: each })),
  fc.constant({ type: 'web_search' }),
);
const body = joined(
  fc.constant({ model: 'm', store: false }),
  optional('instructions', words),
  fc
    .tuple(fc.array(turns, { maxLength: 6 }), userItem)
    .map(([items, last]) => ({ input: unique([...items.flat(), last]) })),
  fc
    .uniqueArray(tool, { selector: (each) => JSON.stringify(each), maxLength: 3 })
    .map((tools): JsonObject => {
      const named = tools.filter(
        (each, index) =>
          'name' in each && tools.findIndex((other) => 'name' in other && other.name === each.name) === index,
      );
      // Tools of the provider stand behind the client's own.
      const kept = [...named, ...tools.filter((each) => !('name' in each))];
      return kept.length === 0 ? {} : { tools: kept, tool_choice: 'auto', parallel_tool_calls: true };
    }),
  optional('max_output_tokens', fc.integer({ min: 16, max: 9999 })),
  optional('temperature', fc.constantFrom(0, 0.5, 2)),
  optional('top_p', fc.constantFrom(0.1, 1)),
  optional('user', name),
  optional('prompt_cache_key', name),
  optional('metadata', fc.dictionary(name, words, { maxKeys: 2 })),
  optional('truncation', fc.constantFrom('auto', 'disabled')),
  optional('text', fc.constantFrom({ verbosity: 'low' }, { format: { type: 'json_object' } })),
  fc
    .option(fc.constantFrom('low', 'high'), { nil: undefined })
    .map(
      (effort): JsonObject =>
        effort === undefined
          ? {}
          : { reasoning: { effort, summary: 'auto' }, include: ['reasoning.encrypted_content'] },
    ),
);

/** Two calls with one id are one call: leave the first. */
function unique(items: readonly JsonObject[]): JsonObject[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const key = item['call_id'] === undefined ? undefined : `${item['type']} ${item['call_id']}`;
    if (key === undefined) return true;
    const known = seen.has(key);
    seen.add(key);
    return !known;
  });
}

describe('a request of this wire', () => {
  it('comes out as it went in', () => {
    fc.assert(
      fc.property(body, (given) => {
        const losses = new LossLog();
        const request = ingress.decodeRequest(structuredClone(given));
        const target = { model: 'm', quirks: STANDARD_QUIRKS, losses };
        expect(egress.encodeRequest(request, target).body).toEqual(given);
        expect(losses.list()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('is not changed by decoding', () => {
    fc.assert(
      fc.property(body, (given) => {
        const before = structuredClone(given);
        ingress.decodeRequest(given);
        expect(given).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });
});

// ── answers ──────────────────────────────────────────────────────────────────────────────────────

const block: fc.Arbitrary<Block> = fc.oneof(
  words.map((text): Block => ({ type: 'text', text })),
  fc.tuple(words, id).map(
    ([thinking, each]): Block => ({
      type: 'thinking',
      thinking,
      signature: sealProof({ id: `rs_${each}`, encrypted: `gAAA${each}` }),
    }),
  ),
  fc.tuple(id, name, json).map(
    ([each, called_, input]): Block => ({
      type: 'tool_use',
      id: each,
      name: called_,
      input,
    }),
  ),
  id.map(
    (each): Block => ({
      type: 'opaque',
      dialect: 'openai-responses',
      kind: 'web_search_call',
      value: { type: 'web_search_call', id: each },
    }),
  ),
);
const turn: fc.Arbitrary<AssistantMessage> = fc
  .tuple(
    fc.uniqueArray(block, {
      minLength: 1,
      maxLength: 5,
      selector: (each) => ('id' in each ? each.id : JSON.stringify(each)),
    }),
    fc.nat(1000),
    fc.nat(1000),
  )
  .map(([content, input, output]) => ({
    id: 'resp_1',
    model: 'm',
    content,
    stopReason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: {
      inputTokens: input,
      outputTokens: output,
      cacheReadTokens: 7,
      cacheWriteTokens: 2,
      reasoningTokens: 0,
    },
  }));

function collect(events: readonly ModelEvent[]): AssistantMessage {
  const lifecycle = new StreamLifecycle({ id: 'resp_1', model: 'm' });
  const collector = new AnswerCollector();
  collector.push(lifecycle.push(events));
  collector.push(lifecycle.end());
  return collector.finish();
}

const names = (): ToolNames => new ToolNames(nameLimits(64));

/** The client's `encrypted_content` is the gateway's own envelope; to read it as an upstream's is another proof. */
function proofless(answer: AssistantMessage): AssistantMessage {
  const content = answer.content.map((each): Block => {
    if (each.type !== 'thinking') return each;
    return { type: 'thinking', thinking: each.thinking };
  });
  return { ...answer, content };
}

describe('an answer of this wire', () => {
  it('is read as it was written, whole', () => {
    fc.assert(
      fc.property(turn, (given) => {
        const losses = new LossLog();
        const wire = ingress.encodeResponse(given, ANSWER, losses);
        expect(collect(egress.decodeResponse(JSON.parse(JSON.stringify(wire)), names()))).toEqual(
          proofless(given),
        );
        expect(losses.list()).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('is read as it was written, streamed', () => {
    const request = ingress.decodeRequest({ model: 'm', input: 'q', stream: true });
    fc.assert(
      fc.property(turn, (given) => {
        const lifecycle = new StreamLifecycle({ id: 'resp_1', model: 'm' });
        const encoder = ingress.createStreamEncoder(request, ANSWER);
        const text = encoder.encode(lifecycle.push(eventsOf(given))) + encoder.encode(lifecycle.end());
        const decoder = egress.createStreamDecoder(names());
        const out: ModelEvent[] = [];
        for (const event of parseSseText(text).events) decoder.push(event, out);
        expect(decoder.done).toBe(true);
        expect(collect(out)).toEqual(proofless(given));
      }),
      { numRuns: 200 },
    );
  });

  it('comes back in the next request as it was', () => {
    fc.assert(
      fc.property(turn, (given) => {
        const form = { encrypted: true };
        const { output } = ingress.encodeResponse(given, { ...ANSWER, form }, new LossLog());
        const request = ingress.decodeRequest({ model: 'm', input: JSON.parse(JSON.stringify(output)) });
        expect(bare(request.messages[0]?.content ?? [])).toEqual(given.content);
      }),
      { numRuns: 200 },
    );
  });
});

/** Without the notes of the items that the blocks stood in. */
function bare(content: readonly Block[]): Block[] {
  return content.map((each) => {
    if (!('extensions' in each)) return each;
    const { extensions: _notes, ...rest } = each;
    return rest;
  });
}

function eventsOf({ content, usage, stopReason }: AssistantMessage): ModelEvent[] {
  const events: ModelEvent[] = [];
  for (const [key, each] of content.entries()) {
    if (each.type === 'text') events.push({ type: 'text', text: each.text }, { type: 'break' });
    else if (each.type === 'thinking') {
      events.push({ type: 'thinking', text: each.thinking });
      if (each.signature !== undefined) events.push({ type: 'signature', signature: each.signature });
      events.push({ type: 'break' });
    } else if (each.type === 'tool_use') {
      events.push({ type: 'tool', key, id: each.id, name: each.name });
      events.push({ type: 'tool-input', key, json: JSON.stringify(each.input) }, { type: 'tool-end', key });
    } else if (each.type === 'opaque') events.push({ type: 'block', block: each });
  }
  return [...events, { type: 'usage', usage }, { type: 'stop', reason: stopReason }];
}
