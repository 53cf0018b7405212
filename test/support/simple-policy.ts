/** Rules and calls that a test can see through. Nothing here needs a test runner: child processes use it too. */
import type { Judge } from '../../src/permissions/coordinator/rule-cache.js';
import type { Decision, JudgedToolCall, RuleSource } from '../../src/permissions/decision.js';
import type { GatedToolCall } from '../../src/permissions/gate.js';
import type { Rule, RuleBehaviour } from '../../src/store/rules.js';

export interface SimpleRules {
  allow?: readonly string[];
  ask?: readonly string[];
  deny?: readonly string[];
}

/**
 * `Tool` and `Tool(words:*)` by the `command` of the input. A prefix does not reach a redirection.
 * Strongest first, and what nothing matches is asked.
 */
export function simplePolicy(configured: SimpleRules = {}): Judge {
  return {
    decide(call, stored) {
      for (const behaviour of ['deny', 'ask', 'allow'] as const) {
        const own = (configured[behaviour] ?? []).map((rule) => ({ rule, source: 'configuration' as const }));
        const made = stored.filter((rule) => rule.behaviour === behaviour).map(fromStore);
        const found = [...own, ...made].find(({ rule }) => matches(rule, call));
        if (found !== undefined) return decision(behaviour, call, found);
      }
      return decision('ask', call);
    },
    readable: (_place, _session, stored) => (path) =>
      ![...(configured.deny ?? []), ...stored.map(({ rule }) => rule)].includes(`Read(${path})`),
    hidden: async () => [],
  };
}

function fromStore({ rule, scope, id }: Rule): { rule: string; source: RuleSource; id: string } {
  return { rule, source: scope, id };
}

function matches(rule: string, call: JudgedToolCall): boolean {
  const command = commandOf(call.input);
  if (rule === call.tool || rule === `${call.tool}(${command})`) return true;
  const prefix = /^(\w+)\((.*):\*\)$/.exec(rule);
  return prefix?.[1] === call.tool && command.startsWith(prefix[2] ?? '') && !command.includes('>');
}

function decision(
  behaviour: RuleBehaviour,
  call: JudgedToolCall,
  found?: { rule: string; source: RuleSource; id?: string },
): Decision {
  const part = commandOf(call.input);
  return {
    behaviour,
    because: found === undefined ? { kind: 'mode', mode: 'ask' } : { kind: 'rule', part, ...found },
    message:
      found === undefined ? `No rule is about "${part}".` : `The rule ${found.rule} is about "${part}".`,
    suggestions: [{ rule: `${call.tool}(${part})`, behaviour: 'allow', covers: 'this command' }],
  };
}

function commandOf(input: unknown): string {
  return typeof input === 'object' && input !== null && 'command' in input ? String(input.command) : '';
}

export interface TestCall extends GatedToolCall {
  abort(reason?: unknown): void;
}

let calls = 0;

/** A command of `alice` in session `s1`, with an id of its own. */
export function callOf(command: string, more: Partial<GatedToolCall> = {}): TestCall {
  const controller = new AbortController();
  calls += 1;
  return {
    principal: 'alice',
    session: 's1',
    toolUseId: `toolu_${calls}`,
    tool: 'Bash',
    input: { command },
    readOnly: false,
    needsPermissions: true,
    effects: [{ kind: 'command', command, cwd: '/work/app' }],
    location: { root: '/work/app', cwd: '/work/app' },
    describe: { title: `Run ${command}`, kind: 'command', paths: [], command },
    signal: controller.signal,
    async revise(input) {
      const changed = commandOf(input);
      if (changed === '') return { problem: 'command: expected a string' };
      return {
        input: { command: changed },
        readOnly: false,
        effects: [{ kind: 'command', command: changed, cwd: '/work/app' }],
        describe: { title: `Run ${changed}`, kind: 'command', paths: [], command: changed },
      };
    },
    abort: (reason) => controller.abort(reason),
    ...more,
  };
}
