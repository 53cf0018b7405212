/** More tools than fit, on a Responses upstream that has `tool_search`. */
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.js';
import { manyTools } from '../support/many-tools.js';
import { inDialect } from '../support/scripted-answers.js';
import {
  json,
  type RecordedRequest,
  type ScriptFunction,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { anthropicClient, openaiClient } from '../support/sdk.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import {
  call,
  callsAnswer,
  numbered,
  openaiError,
  responsesObject,
  responsesSse,
  textAnswer,
} from '../support/wire.js';

const MANY = manyTools(120);
const ISSUE = 'mcp__github__create_issue';
const BRANCH = 'mcp__jira__list_branch';

const records = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** What a model with `tool_search` would refuse in a request; undefined where it is fine. */
function complaint({ json: body }: RecordedRequest): string | undefined {
  const tools = records(body['tools']);
  const searches = tools.filter(({ type }) => type === 'tool_search');
  if (searches.length !== 1) return `${searches.length} searches`;
  if (searches[0]?.['execution'] !== 'client') return 'a search that the provider executes';
  const known = new Set(tools.map(({ name }) => name));
  if (known.has('tool_search')) return 'a function with the name of the search';
  const open = new Set<unknown>();
  for (const item of records(body['input'])) {
    const { type, call_id: id, name, execution } = item;
    if (type === 'tool_search_call' || type === 'function_call') open.add(id);
    if (type === 'tool_search_call' && execution !== 'client') return 'a search of the provider';
    if (type === 'function_call' && !known.has(name)) return `a call of ${name}, which was never loaded`;
    if (type !== 'tool_search_output' && type !== 'function_call_output') continue;
    if (!open.delete(id)) return `a result of ${id}, which was never called`;
    for (const found of records(item['tools'])) {
      if (found['defer_loading'] !== true) return `${found['name']} was not deferred`;
      if (!isRecord(found['parameters'])) return `${found['name']} has no parameters`;
      known.add(found['name']);
    }
  }
  return open.size === 0 ? undefined : 'a call without a result';
}

/** The search as the wire has it; `id` is that of the call. */
const searches =
  (query: string, id: string): ScriptFunction =>
  ({ json: { stream } }) => {
    const item = {
      ...{ id: `tsc_${id}`, type: 'tool_search_call', call_id: id, execution: 'client' },
      ...{ status: 'completed', arguments: { query, max_results: 1 } },
    };
    const response = { ...responsesObject({ parts: [] }), output: [item] };
    if (stream !== true) return json(response);
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', arguments: {} },
      },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ];
    return sse(responsesSse(numbered(events)));
  };

const calls = (name: string, id: string): ScriptFunction =>
  inDialect(callsAnswer(call(name, { issue_id: '7' }, id)));

const says = (text: string): ScriptFunction => inDialect(textAnswer(text));

async function start(steps: readonly ScriptFunction[], model: object = {}) {
  const upstream = await startUpstream((request, index) => {
    const refused = complaint(request);
    if (refused !== undefined) return json(openaiError(refused), { status: 400 });
    return (steps[index] ?? says('No more.'))(request, index);
  });
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: { ...upstream.config('openai-responses'), quirks: { toolSearch: true } } },
      models: { many: { upstream: 'scripted', ...model } },
    },
  });
  return { gateway, upstream };
}

/** Each prompt begins with all of the one before it. */
function expectGrowing(requests: readonly RecordedRequest[]): void {
  for (const [index, { json: body }] of requests.entries()) {
    const before = requests[index - 1]?.json ?? { tools: body['tools'] };
    expect(body['tools']).toEqual(before['tools']);
    const input = records(before['input']);
    expect(records(body['input']).slice(0, input.length)).toEqual(input);
  }
}

const toolNames = ({ json: { tools } }: RecordedRequest): unknown[] =>
  records(tools).map(({ name, type }) => name ?? type);

describe('a client with 120 tools on a model with tool_search', () => {
  it('of Messages gets the call of a found tool, and the prompt only grows at its end', async () => {
    const { gateway, upstream } = await start([
      searches('create github issue', 's1'),
      searches('list jira branch', 's2'),
      calls(ISSUE, 'c1'),
    ]);
    const answer = await anthropicClient(gateway.url).messages.create({
      model: 'many',
      max_tokens: 100,
      tools: MANY.map(({ name, description = '', inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema, type: 'object' as const },
      })),
      messages: [{ role: 'user', content: 'Create it.' }],
    });
    expect(answer.content).toMatchObject([{ type: 'tool_use', name: ISSUE, input: { issue_id: '7' } }]);
    expect(JSON.stringify(answer)).not.toContain('tool_search');
    const { requests } = upstream;
    expect(requests.map(toolNames)).toEqual([['tool_search'], ['tool_search'], ['tool_search']]);
    expectGrowing(requests);
    expect(records(requests[2]?.json['input']).slice(-4)).toMatchObject([
      { type: 'tool_search_call', call_id: 's1', arguments: { query: 'create github issue' } },
      { type: 'tool_search_output', call_id: 's1', tools: [{ type: 'function', name: ISSUE }] },
      { type: 'tool_search_call', call_id: 's2' },
      { type: 'tool_search_output', call_id: 's2', tools: [{ type: 'function', name: BRANCH }] },
    ]);
  });

  it('of Chat Completions gets it streamed, and goes on with what was found', async () => {
    const { gateway, upstream } = await start([
      searches('create github issue', 's1'),
      calls(ISSUE, 'c1'),
      says('Done.'),
    ]);
    const asked = {
      model: 'many',
      tools: MANY.map(({ name, description = '', inputSchema = {} }) => ({
        type: 'function' as const,
        function: { name, description, parameters: inputSchema },
      })),
    };
    const question = { role: 'user' as const, content: 'Create it.' };
    const { chat } = openaiClient(gateway.url);
    const { choices } = await chat.completions
      .stream({ ...asked, messages: [question] })
      .finalChatCompletion();
    const [message] = choices.map((choice) => choice.message);
    expect(message?.tool_calls).toMatchObject([{ function: { name: ISSUE } }]);
    const id = message?.tool_calls?.[0]?.id ?? '';
    const next = await chat.completions.create({
      ...asked,
      messages: [
        question,
        { role: 'assistant', content: null, tool_calls: message?.tool_calls ?? [] },
        { role: 'tool', tool_call_id: id, content: 'created' },
      ],
    });
    expect(next.choices[0]?.message.content).toBe('Done.');
    expect(upstream.requests.map(toolNames)).toEqual([
      ['tool_search'],
      ['tool_search'],
      ['tool_search', ISSUE],
    ]);
  });

  it('is answered by a search that is a function where the model turns out not to have it', async () => {
    const upstream = await startUpstream((request, index) => {
      const has = records(request.json['tools']).some(({ type }) => type === 'tool_search');
      if (has) return json(openaiError("Tool 'tool_search' is not supported with m."), { status: 400 });
      const steps = [calls('tool_search', 's1'), says('Nothing was found.')];
      return (steps[index - 1] ?? says('No more.'))(request, index);
    });
    const gateway = await startTestGateway({
      config: {
        upstreams: { scripted: { ...upstream.config('openai-responses'), quirks: { toolSearch: true } } },
        models: { many: { upstream: 'scripted' } },
      },
    });
    const answer = await anthropicClient(gateway.url).messages.create({
      model: 'many',
      max_tokens: 100,
      tools: MANY.map(({ name }) => ({ name, input_schema: { type: 'object' as const } })),
      messages: [{ role: 'user', content: 'Create it.' }],
    });
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Nothing was found.' }]);
    expect(records(upstream.requests[2]?.json['input']).map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_output',
    ]);
  });
});
