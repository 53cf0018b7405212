/**
 * `approval_prompt`: a Claude Code that runs elsewhere asks this gateway's rules and people whether
 * it may use one of its own tools (`--permission-prompt-tool mcp__auth__approval_prompt`).
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { GatewayError } from '../../core/errors.js';
import type { Verdict } from '../../permissions/gate.js';
import type { McpSessionScope } from './mcp-session.js';
import { ProgressReporter } from './progress.js';
import type { CallToolResult, Extra, Server, WireTool } from './sdk.js';

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

export function createAuthServer(scope: McpSessionScope): Server {
  const { sdk, parts, calls } = scope;
  const server = new sdk.Server(
    { name: 'auth', title: 'Toolgate: permissions', version: parts.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const folder = new ClientFolder(scope, server);
  server.setNotificationHandler(sdk.RootsListChangedNotificationSchema, () => folder.forget());
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({ tools: [TOOL] }));
  server.setRequestHandler(sdk.CallToolRequestSchema, ({ params }, extra) => {
    if (params.name !== NAME) {
      throw new sdk.McpError(
        sdk.ErrorCode.InvalidParams,
        `There is no tool called ${JSON.stringify(params.name.slice(0, 200))}, only ${NAME}.`,
      );
    }
    const asked = argumentsSchema.safeParse(params.arguments ?? {});
    if (!asked.success) {
      throw new sdk.McpError(
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
    return calls.run(extra.requestId, extra.signal, (signal) =>
      prompt(scope, folder, asked.data, extra, signal),
    );
  });
  return server;
}

async function prompt(
  scope: McpSessionScope,
  folder: ClientFolder,
  asked: z.output<typeof argumentsSchema>,
  extra: Extra,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { runtime, parts, place } = scope;
  const { tool_name: name, input, tool_use_id: id } = asked;
  const progress = new ProgressReporter(extra, parts.limits, `${name} is being looked at`);
  try {
    const session = await scope.toolSession(await folder.root(extra));
    const { verdict } = await runtime.review({
      call: { type: 'tool_use', id: id ?? `call_${randomUUID().replaceAll('-', '')}`, name, input },
      session,
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

/** Where the client works, by its own word: the calls run there, and rules for the workspace mean that folder. */
class ClientFolder {
  readonly #scope: McpSessionScope;
  readonly #server: Server;
  #asked: Promise<string | undefined> | undefined;

  constructor(scope: McpSessionScope, server: Server) {
    this.#scope = scope;
    this.#server = server;
  }

  forget(): void {
    this.#asked = undefined;
  }

  /** Undefined where it does not say, or the operator has chosen by a model entry. */
  root(extra: Extra): Promise<string | undefined> {
    const { place } = this.#scope;
    if (place.model !== undefined || this.#server.getClientCapabilities()?.roots === undefined) {
      return Promise.resolve(undefined);
    }
    this.#asked ??= this.#ask(extra);
    return this.#asked;
  }

  async #ask(extra: Extra): Promise<string | undefined> {
    const { sdk, parts } = this.#scope;
    try {
      const { roots } = await extra.sendRequest({ method: 'roots/list' }, sdk.ListRootsResultSchema, {
        timeout: parts.limits.rootsMs,
      });
      const root = roots.find(({ uri }) => uri.startsWith('file://'));
      return root === undefined ? undefined : fileURLToPath(root.uri);
    } catch (error) {
      this.forget();
      parts.log.info({ err: error }, 'a client did not say which folder it works in');
      return undefined;
    }
  }
}
