/** The gateway's tools for any MCP client, under the permissions and approvals of its key. */
import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject, ToolDefinition, ToolResultContent } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ToolOffer, ToolRunEvent, ToolRunResult } from '../../tools/runtime/runtime.js';
import type { Tool } from '../../tools/runtime/tool.js';
import type { McpTool } from '../client/mcp-client.js';
import { questionFor, takeAnswer, takesForms } from './ask-client.js';
import { callAsTask, serveTasks, TASKS_EXTENSION, takesTasks } from './call-tasks.js';
import { serveDirectory } from './directory-server.js';
import { guarded, type LentState, type McpScope } from './mcp-scope.js';
import { ProgressReporter } from './progress.js';
import type {
  CallToolResult,
  ContentBlock,
  InputRequiredResult,
  Server,
  ServerContext,
  WireTool,
} from './sdk.js';
import { STATE_ARGUMENT } from './state-handles.js';
import {
  OUTCOME,
  type SuspendedToolCall,
  type SuspendedToolCalls,
  sentenceOf,
  type Work,
} from './suspended-tool-calls.js';

/** The handle of the state that a call without a session went on with or began. */
const STATE = 'toolgate/state';

export function encodeResult(result: ToolRunResult, changedInputChars: number): CallToolResult {
  const { content, isError, outcome, input } = result;
  const changed = input === undefined ? [] : [changedInput(input, changedInputChars)];
  return {
    content: [...changed, ...content.flatMap((block, index) => encodeBlock(block, index))],
    isError,
    _meta: { [OUTCOME]: outcome },
  };
}

/** The model must not believe that what it wrote is what was done. */
function changedInput(input: unknown, chars: number): ContentBlock {
  return text(
    `A person changed the input of this call before it ran. It ran with: ${JSON.stringify(input).slice(0, chars)}`,
  );
}

function encodeBlock(block: ToolResultContent, index: number): ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [text(block.text)];
    case 'image':
      return block.source.type === 'base64'
        ? [{ type: 'image', data: block.source.data, mimeType: block.source.mediaType }]
        : [text(`[an image: ${JSON.stringify(block.source)}]`)];
    case 'document': {
      const { source } = block;
      if (source.type === 'text') return [text(source.data)];
      if (source.type !== 'base64') return [text(`[a document: ${JSON.stringify(source)}]`)];
      const resource = {
        uri: `toolgate:document/${index + 1}`,
        mimeType: source.mediaType,
        blob: source.data,
      };
      return [{ type: 'resource', resource }];
    }
    case 'opaque':
      return [text(JSON.stringify(block.value))];
  }
}

function text(words: string): ContentBlock {
  return { type: 'text', text: words };
}

const INSTRUCTIONS =
  'Tools that run on the gateway, in its folder and under its permissions. A call may wait until a person has approved it.';

const STATELESS_INSTRUCTIONS = `${INSTRUCTIONS} Where a result names a ${STATE_ARGUMENT}, give it with the next calls to go on with the same shell, to-do list and read files.`;

/** They start an agent of their own, which needs a model. */
const NEED_A_MODEL: ReadonlySet<string> = new Set(['Task', 'Architect']);
/** They reach systems outside of the gateway's control. */
const OPEN_WORLD: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch']);

/** By Claude Code, so that an approval shows the id that its transcript has. */
const TOOL_USE_ID = 'claudecode/toolUseId';
const ID = /^[\w-]{1,128}$/;

export function createToolServer(scope: McpScope): Server {
  const { sdk, parts, calls, session, tasks } = scope;
  const { listTtlMs, discoverTtlMs } = parts.limits;
  const server = new sdk.Server(
    { name: 'gateway', title: 'Toolgate: tools', version: parts.version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: {},
        prompts: {},
        ...(tasks === undefined ? {} : { extensions: TASKS_EXTENSION }),
      },
      instructions: session === undefined ? STATELESS_INSTRUCTIONS : INSTRUCTIONS,
      // Which tools there are depends on the key.
      cacheHints: {
        'tools/list': { ttlMs: listTtlMs, cacheScope: 'private' },
        'resources/list': { ttlMs: listTtlMs, cacheScope: 'private' },
        'resources/templates/list': { ttlMs: listTtlMs, cacheScope: 'private' },
        'prompts/list': { ttlMs: listTtlMs, cacheScope: 'private' },
        'server/discover': { ttlMs: discoverTtlMs, cacheScope: 'private' },
      },
    },
  );
  server.setRequestHandler('tools/list', () =>
    guarded(scope, async () => ({ tools: await listTools(scope) })),
  );
  const refuseTooMany = (): void => {
    if (calls.size < parts.limits.calls) return;
    throw new sdk.ProtocolError(
      sdk.ErrorCode.InvalidRequest,
      `${calls.size} calls of this session run already, which is the limit. Wait for one of them.`,
    );
  };
  server.setRequestHandler('tools/call', ({ params }, context) => {
    refuseTooMany();
    const { id, signal } = context.mcpReq;
    const wanted = { name: params.name, input: params.arguments ?? {} };
    const suspended = takesForms(server) ? scope.suspended : undefined;
    return calls.run(id, signal, (running) =>
      guarded(scope, () => {
        if (tasks !== undefined && takesTasks(server)) {
          const run: Work = (ends, tell) => callTool(scope, wanted, context, ends, tell);
          return reporting(scope, wanted, context, (report) =>
            callAsTask({ server, scope, tasks }, run, { signal: running, report }),
          );
        }
        return suspended === undefined
          ? callTool(scope, wanted, context, running)
          : callAskingClient(scope, suspended, wanted, context, running);
      }),
    );
  });
  if (tasks !== undefined) serveTasks(server, scope, tasks);
  serveDirectory(server, scope, {
    offer: () => offerOf(scope, scope.session),
    run: (wanted, context) => {
      refuseTooMany();
      return calls.run(context.mcpReq.id, context.mcpReq.signal, async (signal) => {
        const kind =
          scope.session === undefined
            ? { kind: 'once' as const }
            : { kind: 'handle' as const, handle: undefined };
        const state = await scope.lendState(kind);
        const run = () => runForResult(scope, wanted, state, context, signal);
        return scope.session === undefined ? withState(state, run) : run();
      });
    },
  });
  return server;
}

async function offerOf({ runtime, place, principal }: McpScope, session?: string): Promise<ToolOffer> {
  // What a request names is what this client picks by calling it.
  const selection = place.selection === 'requested' ? 'all' : place.selection;
  return runtime.offer({
    selection,
    requested: [],
    ...(session === undefined ? {} : { session }),
    key: principal,
  });
}

async function listTools(scope: McpScope): Promise<WireTool[]> {
  const { tools, definitions } = await offerOf(scope, scope.session);
  const servers = new Map(scope.parts.mcp.tools(scope.session).map((tool) => [tool.name, tool]));
  const remembers = rememberingTools(scope);
  return tools.flatMap((tool, index) => {
    const definition = definitions[index];
    if (definition === undefined || NEED_A_MODEL.has(tool.name)) return [];
    const listed = encodeTool(tool, definition, servers.get(tool.name));
    return [scope.session === undefined && remembers(tool.name) ? withHandle(listed) : listed];
  });
}

/** Those of a server that all share one connection are given nothing to remember. */
function rememberingTools({ parts: { mcp } }: McpScope): (name: string) => boolean {
  const shared = new Set(mcp.status().flatMap((server) => (server.shared ? [server.name] : [])));
  const forgetful = new Set(mcp.tools().flatMap((tool) => (shared.has(tool.server) ? [tool.name] : [])));
  return (name) => !forgetful.has(name);
}

function withHandle(tool: WireTool): WireTool {
  const { inputSchema } = tool;
  const handle = {
    type: 'string',
    description:
      'Which shell, to-do list and read files to go on with: what an earlier result named. Leave it out to begin anew.',
  };
  return {
    ...tool,
    inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, [STATE_ARGUMENT]: handle } },
  };
}

function encodeTool(tool: Tool, definition: ToolDefinition, fromServer: McpTool | undefined): WireTool {
  const { name, description, inputSchema } = definition;
  const title = tool.userFacingName();
  return {
    name,
    title,
    ...(description === undefined ? {} : { description }),
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: {
      title,
      ...(fromServer === undefined ? ownHints(tool) : serverHints(fromServer)),
    },
  };
}

/** Only where it holds whatever the input: a client may run such calls side by side. */
function ownHints(tool: Tool): { readOnlyHint: boolean; openWorldHint: boolean } {
  return { readOnlyHint: alwaysReads(tool), openWorldHint: OPEN_WORLD.has(tool.name) };
}

function alwaysReads(tool: Tool): boolean {
  try {
    return tool.isReadOnly({}) === true;
  } catch {
    // It judges by an input that is not there.
    return false;
  }
}

/** By the server's own account, as everywhere. */
function serverHints({ annotations: { readOnly, destructive, openWorld } }: McpTool): object {
  return {
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(openWorld === undefined ? {} : { openWorldHint: openWorld }),
  };
}

/** In place of progress to the request that began the call. */
type Tell = (event: Exclude<ToolRunEvent, { type: 'tool-result' }>) => void;

interface WantedCall {
  name: string;
  input: JsonObject;
}

async function callTool(
  scope: McpScope,
  wanted: WantedCall,
  context: ServerContext,
  signal: AbortSignal,
  tell?: Tell,
): Promise<CallToolResult> {
  if (scope.session !== undefined) {
    const state = await scope.lendState({ kind: 'handle', handle: undefined });
    return runTool(scope, wanted, state, context, signal, tell);
  }
  if (!rememberingTools(scope)(wanted.name)) {
    return withState(await scope.lendState({ kind: 'once' }), (state) =>
      runTool(scope, wanted, state, context, signal, tell),
    );
  }
  const { [STATE_ARGUMENT]: handle, ...input } = wanted.input;
  if (handle !== undefined && typeof handle !== 'string') {
    return refused(`${STATE_ARGUMENT} must be a text: the handle that an earlier result named.`);
  }
  // Before a state is opened for it.
  findTool(scope, await offerOf(scope), wanted.name);
  let lent: LentState;
  try {
    lent = await scope.lendState({ kind: 'handle', handle });
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_found') return refused(error.message);
    throw error;
  }
  return withState(lent, async (state) =>
    namingState(await runTool(scope, { name: wanted.name, input }, state, context, signal, tell), state),
  );
}

async function withState<T>(state: LentState, work: (state: LentState) => Promise<T>): Promise<T> {
  try {
    return await work(state);
  } finally {
    state.giveBack();
  }
}

/** The model reads the content; `_meta` is for the client. */
function namingState(result: CallToolResult, { id, isNew }: LentState): CallToolResult {
  const note = text(
    `[${STATE_ARGUMENT}: ${id} (give it with the next calls to go on with the same shell, to-do list and read files)]`,
  );
  return {
    ...result,
    content: isNew ? [...result.content, note] : result.content,
    _meta: { ...result._meta, [STATE]: id },
  };
}

/** For the model, which can mend it. */
function refused(message: string): CallToolResult {
  return { content: [text(message)], isError: true, _meta: { [OUTCOME]: 'invalid' } };
}

/** Throws where there is none. */
function findTool({ sdk }: McpScope, offer: ToolOffer, name: string): void {
  if (!NEED_A_MODEL.has(name) && offer.find(name) !== undefined) return;
  const why = offer.whyOff?.(name);
  throw new sdk.ProtocolError(
    sdk.ErrorCode.InvalidParams,
    why === undefined
      ? `There is no tool called ${JSON.stringify(name.slice(0, 200))}. tools/list has those that there are.`
      : `${name} is not on offer. ${why}`,
  );
}

async function runTool(
  ...[scope, wanted, state, context, signal, tell]: Parameters<typeof runForResult>
): Promise<CallToolResult> {
  const result = await runForResult(scope, wanted, state, context, signal, tell);
  return encodeResult(result, scope.parts.limits.changedInputChars);
}

async function runForResult(
  scope: McpScope,
  { name, input }: WantedCall,
  state: LentState,
  context: ServerContext,
  signal: AbortSignal,
  tell?: Tell,
): Promise<ToolRunResult> {
  const { runtime, place, parts, span } = scope;
  const offer = await offerOf(scope, state.id);
  findTool(scope, offer, name);
  const running = runtime.run({
    calls: [{ type: 'tool_use', id: callId(context), name, input }],
    offer,
    toolState: state.tools,
    options: {
      ...{ commands: [], model: place.model ?? '', forkNumber: 0, logName: state.id },
      ...(span === undefined ? {} : { traceContext: () => span.propagated }),
    },
    signal,
  });
  const progress =
    tell === undefined
      ? new ProgressReporter(context, parts.limits, `${name} is being looked at`)
      : undefined;
  try {
    for await (const event of running) {
      if (event.type === 'tool-result') return event;
      if (progress === undefined) tell?.(event);
      else report(progress, event);
    }
  } finally {
    progress?.end();
  }
  throw new Error(`${name} ended without a result`);
}

/**
 * The person at the client may decide for its key: they are asked by `input_required`, and the call
 * waits for the request that brings their answer.
 */
async function callAskingClient(
  scope: McpScope,
  suspended: SuspendedToolCalls,
  wanted: WantedCall,
  context: ServerContext,
  signal: AbortSignal,
): Promise<CallToolResult | InputRequiredResult> {
  const { sdk, parts, principal, place } = scope;
  const likeness = likenessOf([wanted.name, wanted.input, place.root, place.model]);
  const requestState = context.mcpReq.requestState<string>();
  let call: SuspendedToolCall | undefined;
  if (requestState === undefined) {
    call = suspended.start(principal, likeness, async (ends, tell) => {
      const leave = parts.approvals.attend(principal);
      try {
        return await callTool(scope, wanted, context, ends, tell);
      } finally {
        leave();
      }
    });
  } else {
    call = suspended.find(requestState, principal);
    if (call === undefined || call.likeness !== likeness) return refused(LOST);
    if (call.shown !== undefined) {
      await takeAnswer(sdk, context, { ...call.shown, by: principal }, parts.approvals);
    }
  }
  const progress = new ProgressReporter(context, parts.limits, `${wanted.name} is being looked at`);
  try {
    for (;;) {
      const next = await call.follow(signal, (event) => report(progress, event));
      if (next.kind === 'done') {
        suspended.forget(call);
        return next.result;
      }
      const approval = await parts.approvals.get(next.approval);
      const question =
        approval && questionFor(sdk, approval, { requestState: call.id, chars: parts.limits.questionChars });
      if (approval === undefined || question === undefined) continue;
      call.shown = { approval: approval.id, digest: approval.digest };
      return question;
    }
  } catch (error) {
    suspended.forget(call);
    throw error;
  } finally {
    progress.end();
  }
}

async function reporting<T>(
  { parts }: McpScope,
  { name }: WantedCall,
  context: ServerContext,
  work: (report: Tell) => Promise<T>,
): Promise<T> {
  const progress = new ProgressReporter(context, parts.limits, `${name} is being looked at`);
  try {
    return await work((event) => report(progress, event));
  } finally {
    progress.end();
  }
}

function likenessOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

const LOST =
  'The gateway does not know this call any more: the gateway that ran it was stopped, the answer came too late, or the call is another one. Whether it ran is not known; look before it is called again.';

function report(progress: ProgressReporter, event: Exclude<ToolRunEvent, { type: 'tool-result' }>): void {
  progress.say(sentenceOf(event), { urgent: event.type !== 'tool-progress' });
}

function callId({ mcpReq: { _meta } }: ServerContext): string {
  const given = _meta?.[TOOL_USE_ID];
  return typeof given === 'string' && ID.test(given) ? given : `call_${randomUUID().replaceAll('-', '')}`;
}
