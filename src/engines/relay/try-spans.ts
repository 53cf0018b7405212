/** The tries at upstreams of one request as spans: which model was asked where, why again, and what came of it. */
import type { Message, StopReason, Usage } from '../../core/conversation.js';
import { type GatewayError, toGatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Attributes, Span } from '../../core/span.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { Upstream } from '../../upstreams/upstream.js';
import type { Answer, AnswerBody, ModelRequest } from '../engine.js';

type Try = (call: ModelRequest) => Promise<Answer>;

/** The words of the conventions, where they have some. */
const FINISH_REASONS: Partial<Record<StopReason, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_call',
  refusal: 'content_filter',
};

export class TrySpans {
  readonly #call: ModelRequest;
  readonly #span: Span;
  #tries = 0;
  #last: GatewayError | undefined;

  /** Undefined where nothing is traced: the way of a request is then the same as without any of this. */
  static of(call: ModelRequest): TrySpans | undefined {
    return call.span === undefined ? undefined : new TrySpans(call, call.span);
  }

  private constructor(call: ModelRequest, span: Span) {
    this.#call = call;
    this.#span = span;
  }

  /** The upstream was not asked, because its circuit breaker is open. */
  refused(upstream: string, error: GatewayError): void {
    this.#last = error;
    this.#span.event('toolgate.upstream.refused', {
      'toolgate.upstream': upstream,
      'error.type': error.code,
    });
  }

  async run(upstream: Upstream, route: ModelRoute, attempt: Try): Promise<Answer> {
    const { request } = this.#call;
    const span = this.#span.child(`chat ${route.model}`, 'client', {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': upstream.served?.provider ?? 'toolgate',
      'gen_ai.request.model': route.model,
      'gen_ai.request.max_tokens': request.maxTokens,
      'gen_ai.request.stream': request.stream,
      'server.address': upstream.served?.host,
      'server.port': upstream.served?.port,
      'toolgate.upstream': upstream.name,
      ...(this.#tries === 0 ? {} : { 'http.request.resend_count': this.#tries }),
      ...(this.#last === undefined ? {} : { 'toolgate.retry.reason': this.#last.code }),
      ...(this.#span.capturesContent ? inputOf(request.messages, request.system) : {}),
    });
    this.#tries += 1;
    try {
      const answer = await attempt({ ...this.#call, span });
      if (answer.upstream !== upstream.name) span.set({ 'toolgate.upstream': answer.upstream });
      return { ...answer, body: watched(answer.body, span) };
    } catch (error) {
      const failure = toGatewayError(error);
      this.#last = failure;
      span.set({ 'http.response.status_code': failure.status });
      span.end({ type: failure.code, message: failure.message });
      throw error;
    }
  }
}

function inputOf(messages: readonly Message[], system: unknown): Attributes {
  return {
    'gen_ai.input.messages': JSON.stringify(messages),
    'gen_ai.system_instructions': JSON.stringify(system),
  };
}

/** The span ends with the answer, however that ends. */
function watched(body: AnswerBody, span: Span): AnswerBody {
  if (body.kind === 'events') return { ...body, batches: watchedEvents(body.batches, span) };
  return { ...body, chunks: watchedBytes(body, span) };
}

async function* watchedEvents(
  batches: AsyncIterable<readonly ModelEvent[]>,
  span: Span,
): AsyncGenerator<readonly ModelEvent[], void, void> {
  const seen = new AnswerFacts(span);
  try {
    for await (const batch of batches) {
      for (const event of batch) seen.push(event);
      yield batch;
    }
    seen.whole = true;
  } catch (error) {
    seen.failure = toGatewayError(error);
    throw error;
  } finally {
    seen.end();
  }
}

async function* watchedBytes(
  { chunks, usage, id }: Extract<AnswerBody, { kind: 'bytes' }>,
  span: Span,
): AsyncGenerator<Uint8Array, void, void> {
  const seen = new AnswerFacts(span);
  if (id !== undefined) span.set({ 'gen_ai.response.id': id });
  try {
    for await (const chunk of chunks) {
      seen.first();
      yield chunk;
    }
    seen.whole = true;
  } catch (error) {
    seen.failure = toGatewayError(error);
    throw error;
  } finally {
    seen.usage = { ...usage() };
    seen.end();
  }
}

class AnswerFacts {
  readonly #span: Span;
  readonly #text: string[] = [];
  #began = false;
  #reason: StopReason | undefined;
  usage: Partial<Usage> = {};
  failure: GatewayError | undefined;
  /** It was read to its end. */
  whole = false;

  constructor(span: Span) {
    this.#span = span;
  }

  first(): void {
    if (this.#began) return;
    this.#began = true;
    this.#span.event('gen_ai.first_token');
  }

  push(event: ModelEvent): void {
    switch (event.type) {
      case 'start':
        if (event.usage !== undefined) this.usage = { ...this.usage, ...event.usage };
        this.#span.set({ 'gen_ai.response.id': event.id, 'gen_ai.response.model': event.model });
        return;
      case 'usage':
        this.usage = { ...this.usage, ...event.usage };
        return;
      case 'stop':
        this.#reason = event.reason;
        return;
      case 'error':
        this.failure = event.error;
        return;
      case 'text':
        if (this.#span.capturesContent) this.#text.push(event.text);
        this.first();
        return;
      case 'thinking':
      case 'tool':
        this.first();
    }
  }

  end(): void {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = this.usage;
    const prompt =
      inputTokens === undefined ? undefined : inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
    this.#span.set({
      // The conventions count what was cached with the input.
      'gen_ai.usage.input_tokens': prompt,
      'gen_ai.usage.output_tokens': outputTokens,
      'gen_ai.usage.cache_read.input_tokens': cacheReadTokens || undefined,
      'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens || undefined,
      'gen_ai.response.finish_reasons':
        this.#reason === undefined ? undefined : [FINISH_REASONS[this.#reason] ?? this.#reason],
      'gen_ai.output.messages':
        this.#text.length === 0
          ? undefined
          : JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: this.#text.join('') }] }]),
    });
    if (this.failure !== undefined) {
      this.#span.end({ type: this.failure.code, message: this.failure.message });
    } else if (this.whole || this.#reason !== undefined) this.#span.end();
    else this.#span.end({ type: 'client_closed', message: 'The answer was not read to its end.' });
  }
}
