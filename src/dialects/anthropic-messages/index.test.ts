import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEvents } from '../../../test/support/dialect-fixtures.js';
import { AnswerCollector } from '../../core/answer-collector.js';
import type {
  AssistantMessage,
  Block,
  ConversationRequest,
  Effort,
  Extensions,
  Message,
  OpaqueBlock,
  ProviderToolDefinition,
  TextBlock,
  ToolChoice,
  ToolDefinition,
  ToolResultBlock,
} from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LossLog } from '../../core/losses.js';
import { STANDARD_QUIRKS } from '../shared/quirks.js';
import { ToolNames } from '../shared/tool-names.js';
import { anthropicMessages } from './index.js';
import { TOOL_NAME_LIMITS } from './wire.js';

const { ingress, egress } = anthropicMessages;
const ANSWER = { model: 'm', requestId: 'r', created: 0 };

const words = fc.string({ minLength: 1, unit: 'grapheme' }).filter((each) => /\S/.test(each));
const base64 = fc.base64String({ minLength: 4 });
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,40}$/);
const json = fc.dictionary(
  name,
  fc.jsonValue().map((each) => JSON.parse(JSON.stringify(each))),
  { maxKeys: 4 },
);
const marked: fc.Arbitrary<{ extensions?: Extensions }> = fc.constantFrom(
  {},
  {},
  { extensions: { 'anthropic-messages': { cache_control: { type: 'ephemeral' } } } },
);
const text: fc.Arbitrary<TextBlock> = fc
  .tuple(words, marked)
  .map(([value, more]) => ({ type: 'text', text: value, ...more }));
const source = fc.oneof(
  base64.map((data) => ({ type: 'base64', mediaType: 'image/png', data }) as const),
  fc.webUrl().map((url) => ({ type: 'url', url }) as const),
  name.map((id) => ({ type: 'file', fileId: id }) as const),
);
const image: fc.Arbitrary<Block & { type: 'image' }> = source.map((each) => ({
  type: 'image',
  source: each,
}));
const document: fc.Arbitrary<Block & { type: 'document' }> = fc
  .tuple(
    fc.oneof(
      base64.map((data) => ({ type: 'base64', mediaType: 'application/pdf', data }) as const),
      words.map((data) => ({ type: 'text', mediaType: 'text/plain', data }) as const),
    ),
    fc.option(words, { nil: undefined }),
  )
  .map(([each, title]) => ({ type: 'document', source: each, ...(title === undefined ? {} : { title }) }));
const opaque: fc.Arbitrary<OpaqueBlock> = fc
  .tuple(fc.constantFrom('server_tool_use', 'web_search_tool_result', 'search_result'), json)
  .map(([kind, fields]) => ({
    type: 'opaque',
    dialect: 'anthropic-messages',
    kind,
    value: { ...fields, type: kind },
  }));
const thinking: fc.Arbitrary<Block> = fc.oneof(
  fc
    .tuple(fc.string(), base64)
    .map(([value, signature]) => ({ type: 'thinking', thinking: value, signature }) as const),
  base64.map((data) => ({ type: 'redacted_thinking', data }) as const),
);
const said = fc.array(fc.oneof(text, image, document, opaque), { minLength: 1, maxLength: 3 });
const resultContent = fc.array(fc.oneof(text, image, document, opaque), { maxLength: 2 });

/** One exchange: what the assistant does and the results it gets, then perhaps an instruction. */
const exchange = fc.record({
  thoughts: fc.array(thinking, { maxLength: 2 }),
  words: fc.array(fc.oneof(text, opaque), { maxLength: 2 }),
  calls: fc.array(fc.tuple(name, json, resultContent, fc.boolean(), marked), { maxLength: 3 }),
  next: said,
  instruction: fc.option(text, { nil: undefined }),
});

const conversation: fc.Arbitrary<Message[]> = fc
  .tuple(said, fc.array(exchange, { maxLength: 4 }))
  .map(([first, turns]) => {
    const messages: Message[] = [{ role: 'user', content: first }];
    for (const [turn, { thoughts, words: spoken, calls, next, instruction }] of turns.entries()) {
      const content: Block[] = [...thoughts, ...spoken];
      const results: ToolResultBlock[] = [];
      for (const [index, [tool, input, answer, isError, more]] of calls.entries()) {
        const id = `toolu_${turn}_${index}`;
        content.push({ type: 'tool_use', id, name: tool, input });
        const kept = isError && answer.length === 0 ? [{ type: 'text', text: 'x' } as const] : answer;
        results.push({ type: 'tool_result', toolUseId: id, content: kept, isError, ...more });
      }
      if (content.length === 0) continue;
      messages.push({ role: 'assistant', content }, { role: 'user', content: [...results, ...next] });
      if (instruction !== undefined) messages.push({ role: 'system', content: [instruction] });
    }
    return messages;
  });

const tool: fc.Arbitrary<ToolDefinition> = fc
  .tuple(name, json, marked, fc.record({ description: words, strict: fc.boolean() }, { requiredKeys: [] }))
  .map(([toolName, schema, more, fields]) => ({
    name: toolName,
    inputSchema: { ...schema, type: 'object' },
    ...more,
    ...fields,
  }));
const providerTool: fc.Arbitrary<ProviderToolDefinition> = name.map((each) => ({
  dialect: 'anthropic-messages',
  kind: 'web_search_20250305',
  name: each,
  value: { type: 'web_search_20250305', name: each },
}));
const toolChoice: fc.Arbitrary<ToolChoice> = fc.oneof(
  fc.constantFrom<ToolChoice>({ type: 'auto' }, { type: 'any' }, { type: 'none' }),
  name.map((each) => ({ type: 'tool', name: each }) as const),
);
const unit = fc.double({ min: 0, max: 1, noNaN: true });

type Options = Partial<ConversationRequest>;
const thinkingOrSampling: fc.Arbitrary<Options> = fc.oneof(
  fc.constantFrom<Options>(
    { thinking: { type: 'adaptive' } },
    { thinking: { type: 'enabled', budgetTokens: 1500 } },
  ),
  fc.record({ temperature: unit, topP: unit, topK: fc.nat(100) }, { requiredKeys: [] }),
);
const options: fc.Arbitrary<Options> = fc.record(
  {
    toolChoice,
    effort: fc.constantFrom<Effort>('low', 'medium', 'high', 'xhigh', 'max'),
    format: json.map((schema) => ({ type: 'json_schema', schema }) as const),
    userId: name,
    serviceTier: fc.constantFrom('auto', 'standard_only'),
  },
  { requiredKeys: [] },
);
const kept = fc.record(
  { context_management: json, container: name, metadata: fc.constant({ team: 1 }) },
  { requiredKeys: [] },
);

const request: fc.Arbitrary<ConversationRequest> = fc
  .tuple(
    fc.record({
      model: name,
      system: fc.array(text, { maxLength: 2 }),
      messages: conversation,
      tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
      providerTools: fc.array(providerTool, { maxLength: 2 }),
      maxTokens: fc.integer({ min: 2000, max: 100_000 }),
      stopSequences: fc.array(words, { maxLength: 5 }),
      stream: fc.boolean(),
      extensions: kept.map((fields) => ({ 'anthropic-messages': { ...fields } })),
    }),
    options,
    thinkingOrSampling,
  )
  .map(([body, some, more]) => ({ ...body, ...some, ...more }));

/** A budget needs thinking in front of the calls being answered; the encoder says so as a loss. */
function withoutBrokenThinking(each: ConversationRequest): ConversationRequest {
  const last = each.messages.findLast(({ role }) => role === 'assistant')?.content[0]?.type;
  const fits = last === undefined || last === 'thinking' || last === 'redacted_thinking';
  return fits || each.thinking?.type !== 'enabled' ? each : { ...each, thinking: { type: 'adaptive' } };
}

describe('a request', () => {
  it('is the same after the wire', () => {
    fc.assert(
      fc.property(request.map(withoutBrokenThinking), (each) => {
        const losses = new LossLog();
        const { body } = egress.encodeRequest(each, { model: each.model, quirks: STANDARD_QUIRKS, losses });
        expect(losses.list()).toEqual([]);
        expect(ingress.decodeRequest(JSON.parse(JSON.stringify(body)))).toEqual(
          JSON.parse(JSON.stringify(each)),
        );
      }),
      { numRuns: 300 },
    );
  });
});

/** Answers of any content, as an engine says them. */
const answer: fc.Arbitrary<ModelEvent[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        words.map((each) => [{ type: 'text', text: each } as const, { type: 'break' } as const]),
        fc
          .tuple(words, base64)
          .map(([each, signature]) => [
            { type: 'thinking', text: each } as const,
            { type: 'signature', signature } as const,
            { type: 'break' } as const,
          ]),
        base64.map((data) => [{ type: 'block', block: { type: 'redacted_thinking', data } } as const]),
        fc.tuple(fc.constantFrom('web_search_tool_result', 'compaction'), json).map(([kind, fields]) => [
          {
            type: 'block',
            block: {
              type: 'opaque',
              dialect: 'anthropic-messages',
              kind,
              value: { ...fields, type: kind },
            },
          } as const,
        ]),
        fc.tuple(json, name).map(([input, id]) => [
          {
            type: 'block',
            block: {
              type: 'opaque',
              dialect: 'anthropic-messages',
              kind: 'server_tool_use',
              value: { type: 'server_tool_use', id, input },
            },
          } as const,
        ]),
        fc
          .tuple(name, json, fc.nat(30))
          .map(([tool, input, cut]) => ({ tool, text: JSON.stringify(input), cut })),
      ),
      { maxLength: 6 },
    ),
    fc.constantFrom('end_turn', 'max_tokens', 'refusal', 'pause_turn', 'context_window_exceeded' as const),
    fc.record({
      inputTokens: fc.nat(9999),
      outputTokens: fc.nat(9999),
      cacheReadTokens: fc.nat(9999),
      cacheWriteTokens: fc.nat(9999),
    }),
  )
  .map(([parts, reason, usage]) => {
    const events: ModelEvent[] = [{ type: 'start', usage: { ...usage, outputTokens: 0 } }];
    for (const [key, part] of parts.entries()) {
      if (Array.isArray(part)) events.push(...part);
      else {
        events.push({ type: 'tool', key, id: `toolu_${key}`, name: part.tool });
        events.push({ type: 'tool-input', key, json: part.text.slice(0, part.cut) });
        events.push({ type: 'tool-input', key, json: part.text.slice(part.cut) }, { type: 'tool-end', key });
      }
    }
    events.push({ type: 'usage', usage }, { type: 'stop', reason });
    return events;
  });

const strict = (events: readonly ModelEvent[]) => {
  const lifecycle = new StreamLifecycle({ id: 'msg', model: 'm' });
  return [...lifecycle.push(events), ...lifecycle.end()];
};

function collect(events: readonly ModelEvent[]): AssistantMessage {
  const collector = new AnswerCollector();
  collector.push(strict(events));
  return collector.finish();
}

describe('an answer', () => {
  const names = new ToolNames(TOOL_NAME_LIMITS);

  it('is the same after a stream', () => {
    fc.assert(
      fc.property(answer, (events) => {
        const wire = ingress.createStreamEncoder(decoded(), ANSWER).encode(strict(events));
        const decoder = egress.createStreamDecoder(names);
        const out: ModelEvent[] = [];
        for (const event of parseEvents(wire)) decoder.push(event, out);
        expect(decoder.done).toBe(true);
        decoder.end(out);
        expect(collect(out)).toEqual(collect(events));
      }),
      { numRuns: 300 },
    );
  });

  it('is the same after a whole body', () => {
    fc.assert(
      fc.property(answer, (events) => {
        const losses = new LossLog();
        const body = ingress.encodeResponse(collect(events), ANSWER, losses);
        expect(losses.size).toBe(0);
        expect(collect(egress.decodeResponse(JSON.parse(JSON.stringify(body)), names))).toEqual(
          collect(events),
        );
      }),
      { numRuns: 300 },
    );
  });
});

function decoded(): ConversationRequest {
  return ingress.decodeRequest({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] });
}

it('never fails on a body but with an error that names the place', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything(),
        fc.record({
          model: fc.constant('m'),
          max_tokens: fc.constant(1),
          messages: fc.anything(),
          system: fc.anything(),
          tools: fc.anything(),
        }),
      ),
      (body) => {
        try {
          ingress.decodeRequest(body);
        } catch (error) {
          expect(error).toMatchObject({ name: 'GatewayError', code: 'invalid_request' });
        }
      },
    ),
    { numRuns: 2000 },
  );
});
