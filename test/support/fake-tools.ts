/** Tools and gates for tests of the runtime itself. */
import type { ToolUseBlock } from '../../src/core/conversation.js';
import type { GatedToolCall, PermissionGate, Verdict } from '../../src/permissions/gate.js';
import { createToolRuntime, type ToolRuntimeOptions } from '../../src/tools/runtime/create-runtime.js';
import { toOffer } from '../../src/tools/runtime/registry.js';
import type {
  OpenToolState,
  RunRequest,
  ToolRunEvent,
  ToolRunResult,
  ToolRuntime,
} from '../../src/tools/runtime/runtime.js';
import type { Tool } from '../../src/tools/runtime/tool.js';
import { SANDBOX_OFF } from './tool-context.js';

/** Whatever is not given is what a harmless reader would say. */
export function fakeTool(name: string, parts: Partial<Tool> = {}): Tool {
  return {
    name,
    userFacingName: () => name,
    description: `The tool ${name}.`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    needsPermissions: () => false,
    async *call() {
      yield { type: 'result', resultForAssistant: `${name} done` };
    },
    describe: () => ({ title: name, kind: 'other', paths: [] }),
    ...parts,
  };
}

export const ALLOWED = { kind: 'mode', mode: 'allow' } as const;

/** Lets everything through but what `check` says otherwise about. */
export function fakeGate(
  check: (call: GatedToolCall) => Promise<Verdict | undefined> = async () => undefined,
): PermissionGate {
  const verdict = async (call: GatedToolCall): Promise<Verdict> =>
    (await check(call)) ?? { allowed: true, input: call.input, because: ALLOWED };
  return {
    check: verdict,
    checkFurther: verdict,
    judge: async () => ({ behaviour: 'allow', because: ALLOWED, message: 'Allowed.', suggestions: [] }),
    readable: async () => () => true,
    hidden: async () => [],
    modeOf: async () => undefined,
    leavePlan: async () => false,
  };
}

export interface FakeWorld {
  runtime: ToolRuntime;
  session: OpenToolState;
  /** Every line at `warn` and `error`. */
  logged: { facts: object; message: string }[];
  run(
    calls: readonly ToolUseBlock[],
    request?: Partial<RunRequest>,
  ): AsyncGenerator<ToolRunEvent, void, void>;
  /** Runs them to the end; what the results say, in the order they came. */
  results(calls: readonly ToolUseBlock[], request?: Partial<RunRequest>): Promise<ToolRunResult[]>;
}

/** The caller closes the runtime. */
export async function fakeWorld(
  tools: readonly Tool[],
  folder: string,
  options: Partial<ToolRuntimeOptions> = {},
): Promise<FakeWorld> {
  const logged: FakeWorld['logged'] = [];
  const keep = (facts: object, message: string): void => void logged.push({ facts, message });
  const runtime = createToolRuntime({
    sources: [{ source: 'built-in', tools: () => tools }],
    gate: fakeGate(),
    sandbox: SANDBOX_OFF,
    stateDir: folder,
    log: { debug() {}, info() {}, warn: keep, error: keep },
    ...options,
  });
  const session = await runtime.openToolState({
    id: 'session-1',
    principal: 'tester',
    workspace: { root: folder, home: folder },
  });
  const offer = toOffer(tools.map((tool) => ({ tool, definition: { name: tool.name } })));
  const run: FakeWorld['run'] = (calls, request = {}) =>
    runtime.run({
      calls,
      offer,
      toolState: session,
      options: { commands: [], model: 'test', forkNumber: 0, logName: 'test' },
      signal: new AbortController().signal,
      ...request,
    });
  return {
    runtime,
    session,
    logged,
    run,
    async results(calls, request) {
      const results: ToolRunResult[] = [];
      for await (const event of run(calls, request)) if (event.type === 'tool-result') results.push(event);
      return results;
    },
  };
}

let count = 0;

export function callOf(name: string, input: Record<string, unknown> = {}): ToolUseBlock {
  count += 1;
  return { type: 'tool_use', id: `toolu_${count}`, name, input };
}

export function textOf(result: ToolRunResult | undefined): string {
  return (result?.content ?? []).map((block) => (block.type === 'text' ? block.text : block.type)).join('\n');
}
