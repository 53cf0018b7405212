/** What the rules say about a whole call: the strictest of what they say about its parts. */
import type { Effect } from '../decision.js';
import { canonicalTool, isFileTool, SPECIFIER_FIELDS } from '../rules/rule.js';
import { hostOf } from '../shell/hosts.js';
import { judgeCommand, type PreparedCommand } from './command.js';
import { judgedFile, judgeFile } from './files.js';
import { byMode, byRule, type Finding, findRule, harmless, type Judging, strictest } from './judging.js';

/** The commands of the call, parsed, by their effect. */
export type PreparedCommands = ReadonlyMap<Effect, PreparedCommand>;

export function judgeToolCall(judging: Judging, commands: PreparedCommands): Finding {
  const { call } = judging;
  const tool = toolFinding(judging);
  if (tool?.behaviour === 'deny') return tool;
  const findings = call.effects.map((effect) => judgeEffect(judging, effect, commands, tool));
  if (tool !== undefined) findings.push(tool);
  return strictest(findings) ?? harmless(`${call.tool} touches nothing outside of the conversation.`);
}

/** Tools that are no more than their effects: a rule about those is a rule about them. */
function isItsEffects(judging: Judging): boolean {
  const { tool, effects } = judging.call;
  return effects.length > 0 && (isFileTool(tool) || tool === 'Bash' || tool === 'WebFetch');
}

/** About the tool itself; undefined where its effects say it all. */
function toolFinding(judging: Judging): Finding | undefined {
  const { call, where } = judging;
  const name = canonicalTool(call.tool);
  const part = `the tool ${call.tool}`;
  for (const behaviour of ['deny', 'ask'] as const) {
    const entry = findRule(
      judging,
      behaviour,
      (index) => index.tool(name, where) ?? index.field(name, allTexts(call.input), where),
    );
    if (entry !== undefined) return byRule(behaviour, entry, part);
  }
  if (isItsEffects(judging)) return undefined;
  const field = SPECIFIER_FIELDS[name];
  const entry = findRule(
    judging,
    'allow',
    (index) =>
      index.tool(name, where) ??
      (field === undefined ? undefined : index.field(name, textOf(call.input, field), where)),
  );
  if (entry !== undefined) return byRule('allow', entry, part);
  if (!call.needsPermissions) return harmless(`${call.tool} is harmless by nature.`);
  return byMode(judging, part, call.readOnly);
}

function judgeEffect(
  judging: Judging,
  effect: Effect,
  commands: PreparedCommands,
  tool: Finding | undefined,
): Finding {
  // A rule that allows a tool by its name allows what the tool does, as far as no rule forbids it.
  const otherwise = tool?.behaviour === 'allow' && tool.because.kind === 'rule' ? tool : undefined;
  switch (effect.kind) {
    case 'read':
    case 'edit':
      return judgeFile(judging, judgedFile(judging, effect.kind, effect.path), otherwise);
    case 'fetch':
      return judgeHost(judging, effect.url, otherwise);
    case 'command': {
      const prepared = commands.get(effect);
      return prepared === undefined
        ? byMode(judging, `the command \`${effect.command}\``, false)
        : judgeCommand(judging, prepared, otherwise);
    }
  }
}

function judgeHost(judging: Judging, url: string, otherwise: Finding | undefined): Finding {
  const host = hostOf(url);
  const part = `reaching ${host ?? url}`;
  for (const behaviour of ['deny', 'ask', 'allow'] as const) {
    const entry = findRule(
      judging,
      behaviour,
      (index) =>
        (host === undefined ? undefined : index.host(host, judging.where)) ??
        index.tool('WebFetch', judging.where),
    );
    if (entry !== undefined) return byRule(behaviour, entry, part);
  }
  return otherwise ?? byMode(judging, part, judging.call.readOnly);
}

function textOf(input: unknown, field: string): string[] {
  if (typeof input !== 'object' || input === null) return [];
  const value: unknown = Reflect.get(input, field);
  return typeof value === 'string' ? [value] : [];
}

function allTexts(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return [];
  return Object.values(input).filter((value) => typeof value === 'string');
}
