/**
 * `approval_prompt`: a Claude Code that runs elsewhere asks this gateway's rules and people whether
 * it may use one of its own tools (`--permission-prompt-tool mcp__auth__approval_prompt`).
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import type { Verdict } from '../../permissions/gate.js';
import type { LentState, McpScope } from './mcp-scope.js';
import { ProgressReporter } from './progress.js';
import type { CallToolResult, InputRequiredResult, Server, ServerContext, WireTool } from './sdk.js';

const NAME = 'approval_prompt';

const INSTRUCTIONS =
  'Decides whether Claude Code may use a tool. Start it with --permission-prompt-tool mcp__auth__approval_prompt.';

const TOOL: WireTool = {
  name: NAME,
  title: 'Ask for permission',
  description:
    "Asks the gateway's rules, and where they say so a person, whether a tool may be used with this input. Answers with JSON: behavior allow and updatedInput, or behavior deny and message.",
  inputSchema: {
    type: 'object',
    properties: {
      tool_name: { type: 'string', description: 'The tool that wants to run.' },
      input: { type: 'object', description: 'What it was called with.', additionalProperties: true },
      tool_use_id: { type: 'string', description: 'The id of the call.' },
    },
    required: ['tool_name', 'input'],
  },
  annotations: { title: 'Ask for permission', readOnlyHint: true, openWorldHint: false },
};

const argumentsSchema = z.looseObject({
  tool_name: z.string().min(1).max(512),
  input: z.record(z.string(), z.unknown()),
  tool_use_id: z.string().min(1).max(256).optional(),
});

/** What Claude Code reads. */
type PromptAnswer = { behavior: 'allow'; updatedInput: unknown } | { behavior: 'deny'; message: string };

export function createAuthServer(scope: McpScope): Server {
  const { sdk, parts, calls } = scope;
  const server = new sdk.Server(
    { name: 'auth', title: 'Toolgate: permissions', version: parts.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const folder = new ClientFolder(scope, server);
  server.setNotificationHandler('notifications/roots/list_changed', () => folder.forget());
  server.setRequestHandler('tools/list', () => ({ tools: [TOOL] }));
  server.setRequestHandler('tools/call', ({ params }, context) => {
    if (params.name !== NAME) {
      throw new sdk.ProtocolError(
        sdk.ErrorCode.InvalidParams,
        `There is no tool called ${JSON.stringify(params.name.slice(0, 200))}, only ${NAME}.`,
      );
    }
    const asked = argumentsSchema.safeParse(params.arguments ?? {});
    if (!asked.success) {
      throw new sdk.ProtocolError(
        sdk.ErrorCode.InvalidParams,
        `${NAME} takes tool_name (a text), input (an object) and tool_use_id (a text, may be left out).`,
      );
    }
    if (calls.size >= parts.limits.calls) {
      return asResult({
        behavior: 'deny',
        message: `${asked.data.tool_name} was not run: ${calls.size} questions of this session wait already, which is the limit. That is not a refusal. Wait for one of them.`,
      });
    }
    const { id, signal } = context.mcpReq;
    return calls.run(id, signal, (running) => prompt(scope, folder, asked.data, context, running));
  });
  return server;
}

async function prompt(
  scope: McpScope,
  folder: ClientFolder,
  asked: z.output<typeof argumentsSchema>,
  context: ServerContext,
  signal: AbortSignal,
): Promise<CallToolResult | InputRequiredResult> {
  const { runtime, parts, place } = scope;
  const { tool_name: name, input, tool_use_id: id } = asked;
  const found = await folder.root(context);
  if (found.kind === 'ask-client') return found.question;
  const progress = new ProgressReporter(context, parts.limits, `${name} is being looked at`);
  let state: LentState | undefined;
  try {
    state = await scope.lendState({ kind: 'folder', root: found.root });
    const { verdict } = await runtime.review({
      call: { type: 'tool_use', id: id ?? `call_${randomUUID().replaceAll('-', '')}`, name, input },
      toolState: state.tools,
      signal,
      options: { model: place.model ?? '' },
      onWaiting: (approval) => progress.say(`Waiting for approval ${approval}`, { urgent: true }),
      onResumed: () => progress.say('Decided', { urgent: true }),
    });
    return asResult(answerOf(verdict));
  } catch (error) {
    const known = error instanceof GatewayError;
    if (!known) parts.log.warn({ err: error, tool: name }, 'bug: a permission could not be decided');
    const why = known ? error.message : 'an internal error in the gateway; its log says more.';
    return asResult({
      behavior: 'deny',
      message: `${name} was not run: whether it may could not be decided: ${why} That is not a refusal.`,
    });
  } finally {
    progress.end();
    state?.giveBack();
  }
}

function answerOf(verdict: Verdict): PromptAnswer {
  return verdict.allowed
    ? { behavior: 'allow', updatedInput: verdict.input }
    : { behavior: 'deny', message: verdict.message };
}

function asResult(answer: PromptAnswer): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
}

type FoundFolder =
  /** Undefined where it does not say, or the operator has chosen by a model entry. */
  | { kind: 'known'; root: string | undefined }
  /** The request comes again, with the answer in it. */
  | { kind: 'ask-client'; question: InputRequiredResult };

const ROOTS = 'roots';

/** Where the client works, by its own word: the calls run there, and rules for the workspace mean that folder. */
class ClientFolder {
  readonly #scope: McpScope;
  readonly #server: Server;
  #asked: Promise<string | undefined> | undefined;

  constructor(scope: McpScope, server: Server) {
    this.#scope = scope;
    this.#server = server;
  }

  forget(): void {
    this.#asked = undefined;
  }

  async root({ mcpReq }: ServerContext): Promise<FoundFolder> {
    const { place, sdk, session } = this.#scope;
    if (place.model !== undefined || this.#server.getClientCapabilities()?.roots === undefined) {
      return { kind: 'known', root: undefined };
    }
    if (session !== undefined) {
      this.#asked ??= this.#ask(mcpReq);
      return { kind: 'known', root: await this.#asked };
    }
    if (mcpReq.inputResponses === undefined) {
      const question = sdk.inputRequired({ inputRequests: { [ROOTS]: sdk.inputRequired.listRoots() } });
      return { kind: 'ask-client', question };
    }
    const answer = sdk.inputResponse(mcpReq.inputResponses, ROOTS);
    return { kind: 'known', root: answer.kind === 'roots' ? folderOf(answer.roots) : undefined };
  }

  async #ask({ send }: ServerContext['mcpReq']): Promise<string | undefined> {
    const { parts } = this.#scope;
    try {
      const { roots } = await send({ method: 'roots/list' }, { timeout: parts.limits.rootsMs });
      return folderOf(roots);
    } catch (error) {
      this.forget();
      parts.log.info({ err: error }, 'a client did not say which folder it works in');
      return undefined;
    }
  }
}

/** Of the client's word: nothing of it is believed but that it is a local folder. */
function folderOf(roots: readonly unknown[]): string | undefined {
  for (const root of roots) {
    const uri = isObject(root) ? root['uri'] : undefined;
    if (typeof uri !== 'string' || !uri.startsWith('file://')) continue;
    try {
      return fileURLToPath(uri);
    } catch {
      // Of a host, or with an escaped slash: no folder that a rule could mean.
    }
  }
  return undefined;
}
