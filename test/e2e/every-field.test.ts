/**
 * Nothing silently: every top-level field that the official SDKs can send, on every other wire and on
 * agents, is carried, refused, or named in `x-toolgate-losses`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName, type JsonObject } from '../../src/core/conversation.js';
import { DIALECT_PATHS, DIALECTS } from '../../src/dialects/all.js';
import { lostWishes, shapeRequest } from '../../src/engines/claude-code/conversation/request-shape.js';
import { checkDemands, notForwarded } from '../../src/engines/demands.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { textAnswer } from '../support/wire.js';

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const NO_INPUT = { type: 'object', properties: {} };

/** A request that says little, and for each field a value that says something. */
const WIRES: Readonly<Record<DialectName, { sdk: [string, string]; base: JsonObject; fields: JsonObject }>> =
  {
    'anthropic-messages': {
      sdk: ['@anthropic-ai/sdk/resources/beta/messages/messages.js', 'MessageCreateParamsBase'],
      base: {
        max_tokens: 3000,
        messages: [{ role: 'user', content: 'Hi.' }],
        tools: [{ name: 'f', input_schema: NO_INPUT }],
      },
      fields: {
        cache_control: { type: 'ephemeral' },
        compaction: { type: 'summarize' },
        container: 'container_1',
        context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
        diagnostics: { previous_message_id: 'msg_1' },
        fallback_credit_token: 'token',
        fallbacks: [{ model: 'other' }],
        inference_geo: 'us',
        max_tokens: 2000,
        mcp_servers: [{ type: 'url', url: 'https://example.com/mcp', name: 'm' }],
        messages: [{ role: 'user', content: 'Other.' }],
        metadata: { user_id: 'u-1' },
        output_config: { effort: 'low' },
        output_format: { type: 'json_schema', schema: SCHEMA },
        service_tier: 'standard_only',
        speed: 'fast',
        stop_sequences: ['END'],
        system: 'Be kind.',
        temperature: 0.5,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        thread: { type: 'continue', previous_message_id: 'msg_1' },
        tool_choice: { type: 'any' },
        tools: [{ name: 'g', input_schema: NO_INPUT }],
        top_k: 5,
        top_p: 0.5,
      },
    },
    'openai-chat': {
      sdk: ['openai/resources/chat/completions/completions.js', 'ChatCompletionCreateParamsBase'],
      base: {
        messages: [{ role: 'user', content: 'Hi.' }],
        tools: [{ type: 'function', function: { name: 'f', parameters: NO_INPUT } }],
      },
      fields: {
        audio: { format: 'wav', voice: 'alloy' },
        frequency_penalty: 0.5,
        function_call: 'none',
        functions: [{ name: 'g', parameters: NO_INPUT }],
        logit_bias: { 50256: -100 },
        logprobs: true,
        max_completion_tokens: 2000,
        max_tokens: 2000,
        messages: [{ role: 'user', content: 'Other.' }],
        metadata: { run: '7' },
        modalities: ['text', 'audio'],
        moderation: { model: 'omni' },
        n: 2,
        parallel_tool_calls: false,
        prediction: { type: 'content', content: 'x' },
        presence_penalty: 0.5,
        prompt_cache_key: 'key',
        prompt_cache_options: { mode: 'explicit' },
        prompt_cache_retention: '24h',
        reasoning_effort: 'low',
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } },
        safety_identifier: 's-1',
        seed: 7,
        service_tier: 'flex',
        stop: ['END'],
        store: true,
        stream_options: { include_obfuscation: true },
        temperature: 0.5,
        tool_choice: 'required',
        tools: [{ type: 'function', function: { name: 'g', parameters: NO_INPUT } }],
        top_logprobs: 2,
        top_p: 0.5,
        user: 'u-1',
        verbosity: 'low',
        web_search_options: {},
      },
    },
    'openai-responses': {
      sdk: ['openai/resources/responses/responses.js', 'ResponseCreateParamsBase'],
      base: { input: 'Hi.', tools: [{ type: 'function', name: 'f', parameters: NO_INPUT, strict: false }] },
      fields: {
        background: true,
        context_management: [{ type: 'compaction', compact_threshold: 1000 }],
        conversation: 'conv_1',
        include: ['message.output_text.logprobs'],
        input: 'Other.',
        instructions: 'Be kind.',
        max_output_tokens: 2000,
        max_tool_calls: 2,
        metadata: { run: '7' },
        moderation: { model: 'omni' },
        parallel_tool_calls: false,
        previous_response_id: 'resp_unknown',
        prompt: { id: 'pmpt_1' },
        prompt_cache_key: 'key',
        prompt_cache_options: { mode: 'explicit' },
        prompt_cache_retention: '24h',
        reasoning: { effort: 'low' },
        safety_identifier: 's-1',
        service_tier: 'flex',
        store: true,
        stream_options: { include_obfuscation: true },
        temperature: 0.5,
        text: { verbosity: 'low' },
        tool_choice: 'required',
        tools: [{ type: 'function', name: 'g', parameters: NO_INPUT, strict: false }],
        top_logprobs: 2,
        top_p: 0.5,
        truncation: 'auto',
        user: 'u-1',
      },
    },
  };

/** Fields that have nothing to do with the upstream's wire, with who sees to them. */
const NOT_OF_THE_BODY: Readonly<Record<string, string>> = {
  model: 'chooses the route',
  stream: 'the form of the answer to this client',
  betas: 'the SDK sends it as a header',
  user_profile_id: 'the SDK sends it as a header',
  workspace_id: 'the SDK sends it as a header',
};

/** Fields that the gateway itself keeps, whichever upstream answers. */
const KEPT_BY_THE_GATEWAY: Readonly<Record<DialectName, Readonly<Record<string, string>>>> = {
  'anthropic-messages': {
    context_management: 'old results and thinking are cleared here, and the answer says how much',
    diagnostics: 'answered with what another wire can tell',
  },
  'openai-chat': { prompt_cache_key: 'breakpoints are set on a wire without such a key' },
  'openai-responses': {
    metadata: 'stored with the answer and repeated in it',
    prompt_cache_key: 'breakpoints are set on a wire without such a key',
    store: 'the gateway stores the answer',
  },
};

/** What a field is called where it is named or refused, beside its own name. */
const ALSO_CALLED: Readonly<Record<string, readonly string[]>> = {
  max_output_tokens: ['maxTokens'],
  output_config: ['effort', 'format'],
  output_format: ['format'],
  parallel_tool_calls: ['parallelToolCalls'],
  reasoning: ['effort'],
  reasoning_effort: ['effort'],
  response_format: ['format'],
  service_tier: ['serviceTier'],
  stop_sequences: ['stop', 'stopSequences'],
  text: ['format'],
  thinking: ['effort'],
};

/** An agent marks what is to be cached itself: the client cannot know where its prompt ends. */
const isKept = (client: DialectName, field: string, engine: string): boolean =>
  (field in KEPT_BY_THE_GATEWAY[client] && !(engine !== 'relay' && client === 'anthropic-messages')) ||
  (engine !== 'relay' && field === 'cache_control');

const isNamed = (field: string, losses: string): boolean =>
  [field, ...(ALSO_CALLED[field] ?? [])].some((name) =>
    losses.split('; ').some((loss) => loss.startsWith(`${name}:`) || loss.startsWith(`${name}.`)),
  );
const isRefused = (field: string, error: string): boolean =>
  [field, ...(ALSO_CALLED[field] ?? [])].some((name) => error.includes(name));

describe.each(DIALECT_NAMES)('the fields of %s', (wire) => {
  it('are all in this list', () => {
    const [specifier, name] = WIRES[wire].sdk;
    const file = fileURLToPath(import.meta.resolve(specifier)).replace(/\.m?js$/, '.d.ts');
    const body = new RegExp(`export interface ${name} \\{([^]*?)\\n\\}`).exec(
      readFileSync(file, 'utf8'),
    )?.[1];
    const declared = [...(body ?? '').matchAll(/^ {4}(\w+)\??:/gm)].map(([, field = '']) => field);
    expect(declared.length).toBeGreaterThan(20);
    const known = new Set([...Object.keys(WIRES[wire].fields), ...Object.keys(NOT_OF_THE_BODY)]);
    expect(declared.filter((field) => !known.has(field))).toEqual([]);
  });
});

async function open(engine: 'relay' | 'native') {
  const upstream = await startUpstream(inDialect(textAnswer('Hello.')));
  const { path: cwd } = await tempFolder('toolgate-fields');
  const gateway = await startTestGateway({
    config: {
      upstreams: Object.fromEntries(DIALECT_NAMES.map((name) => [name, upstream.config(name)])),
      models: Object.fromEntries(
        DIALECT_NAMES.map((name) => [
          name,
          { upstream: name, model: 'm', ...(engine === 'native' ? { engine, tools: 'none', cwd } : {}) },
        ]),
      ),
      sandbox: 'off',
    },
  });
  const ask = async (client: DialectName, target: DialectName, fields: JsonObject) => {
    const before = upstream.requests.length;
    const response = await fetch(`${gateway.url}${DIALECT_PATHS[client]}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...WIRES[client].base, ...fields, model: target }),
    });
    const text = await response.text();
    const session = response.headers.get('x-session-id') ?? '-';
    const sent = upstream.requests[before]?.text.replaceAll(session, 'SESSION');
    return { status: response.status, text, losses: response.headers.get('x-toolgate-losses') ?? '', sent };
  };
  return ask;
}

describe.each(['relay', 'native'] as const)('on a %s', (engine) => {
  it.each(
    DIALECT_NAMES.flatMap((client) =>
      DIALECT_NAMES.filter((target) => target !== client).map((target) => [client, target] as const),
    ),
  )('no field of %s is dropped silently towards %s', async (client, target) => {
    const ask = await open(engine);
    const plain = await ask(client, target, {});
    expect([plain.status, (await ask(client, target, {})).sent]).toEqual([200, plain.sent]);
    const dropped: string[] = [];
    for (const [field, value] of Object.entries(WIRES[client].fields)) {
      const { status, text, losses, sent } = await ask(client, target, { [field]: value });
      if (status >= 400 && status < 500) {
        if (!isRefused(field, text)) dropped.push(`${field}: refused without its name: ${text}`);
      } else if (status !== 200) dropped.push(`${field}: ${status} ${text}`);
      else if (!isNamed(field, losses) && sent === plain.sent && !isKept(client, field, engine)) {
        dropped.push(`${field}: dropped silently`);
      }
    }
    expect(dropped).toEqual([]);
  });
});

/** Who sees to a field on that engine, beside the model calls that the request shapes. */
const KEPT_BY_THE_AGENT: ReadonlySet<string> = new Set([
  'function_call',
  'functions',
  'input',
  'instructions',
  'messages',
  'system',
  'tool_choice',
  'tools',
]);

describe('on Claude Code', () => {
  it.each(DIALECT_NAMES)('no field of %s is dropped silently', (client) => {
    const { base, fields } = WIRES[client];
    const { decodeRequest } = DIALECTS[client].ingress;
    const own = decodeRequest({ model: 'm', ...base });
    const shaped = (wished: typeof own): string =>
      JSON.stringify(shapeRequest({ ...own, stream: true }, { wished, toolChoice: undefined }));
    const dropped = Object.entries(fields).filter(([field, value]) => {
      let wished: typeof own;
      try {
        wished = decodeRequest({ model: 'm', ...base, [field]: value });
        if (wished.verbatim !== undefined) throw notForwarded(wished.verbatim);
        checkDemands(wished, 'claude-code');
      } catch (error) {
        return !isRefused(field, JSON.stringify([String(error), error]));
      }
      const losses = lostWishes(wished).map(({ path, reason }) => `${path}: ${reason}`);
      const isSeenTo = KEPT_BY_THE_AGENT.has(field) || isKept(client, field, 'claude-code');
      return !isSeenTo && !isNamed(field, losses.join('; ')) && shaped(wished) === shaped(own);
    });
    expect(dropped).toEqual([]);
  });
});

describe('what only one provider can keep', () => {
  const CASES: readonly [string, DialectName, JsonObject, number, RegExp][] = [
    ['a place to run in', 'anthropic-messages', { inference_geo: 'us' }, 400, /^inference_geo: .*"us"/],
    [
      'a thread',
      'anthropic-messages',
      { thread: { type: 'continue', previous_message_id: 'msg_1' } },
      404,
      /the thread of the message "msg_1"/,
    ],
    [
      'an encrypted compaction',
      'openai-responses',
      {
        input: [
          { type: 'compaction', encrypted_content: 'x' },
          { role: 'user', content: 'Go on.' },
        ],
      },
      400,
      /^input\.0: a compaction/,
    ],
  ];
  const messageIn = (text: string): string => {
    const body: unknown = JSON.parse(text);
    return JSON.stringify(body).replace(/^.*?"message":"/, '');
  };

  it.each(CASES)(
    '%s is refused in the dialect of the client',
    async (_what, client, fields, status, says) => {
      for (const engine of ['relay', 'native'] as const) {
        const ask = await open(engine);
        const answer = await ask(client, 'openai-chat', fields);
        expect(answer.sent).toBeUndefined();
        expect(answer.status).toBe(status);
        expect(messageIn(answer.text).replaceAll('\\"', '"')).toMatch(says);
      }
    },
  );

  it('a place to run in reaches an upstream that can promise it, from an agent too, and "global" is no demand', async () => {
    const native = await open('native');
    const promised = await native('anthropic-messages', 'anthropic-messages', { inference_geo: 'us' });
    expect(promised.sent).toContain('"inference_geo":"us"');
    const relay = await open('relay');
    expect((await relay('anthropic-messages', 'openai-chat', { inference_geo: 'global' })).status).toBe(200);
  });

  it('a place to run in chooses among upstreams by their region, and says which there are', async () => {
    const requests = new Map<string, readonly unknown[]>();
    const start = async (name: string) => {
      const upstream = await startUpstream(inDialect(textAnswer('Hello.')));
      requests.set(name, upstream.requests);
      return { ...upstream.config('openai-chat'), region: name };
    };
    const asked = () => [...requests].flatMap(([name, sent]) => sent.map(() => name));
    const { url } = await startTestGateway({
      config: {
        upstreams: { a: await start('us'), b: await start('eu') },
        models: { m: { upstream: ['a', 'b'] } },
      },
    });
    const ask = (inference_geo: string) =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...WIRES['anthropic-messages'].base, model: 'm', inference_geo }),
      });
    const answer = await ask('eu');
    expect([answer.status, answer.headers.get('x-toolgate-losses'), asked()]).toEqual([200, null, ['eu']]);
    const refused = await ask('jp');
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('It runs in \\"us\\" (a), \\"eu\\" (b)');
    expect(asked()).toEqual(['eu']);
  });

  it('the summary of a compaction is carried, and what it stands for is not', async () => {
    const ask = await open('relay');
    const messages = [
      { role: 'user', content: 'Long ago.' },
      {
        role: 'assistant',
        content: [
          { type: 'compaction', content: 'They met.' },
          { type: 'text', text: 'Yes.' },
        ],
      },
      { role: 'user', content: 'Go on.' },
    ];
    for (const target of ['openai-chat', 'openai-responses'] as const) {
      const { sent, losses } = await ask('anthropic-messages', target, { messages });
      expect(sent).toMatch(/They met\..*Yes\..*Go on\./s);
      expect(sent).not.toContain('Long ago');
      expect(losses).toBe('');
    }
  });
});
