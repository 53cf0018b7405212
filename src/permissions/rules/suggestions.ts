/** Rules that a person could make of a question: narrow ones, the narrowest first. */
import { dirname } from 'node:path';
import { ruleProblem } from '../../config/rule-syntax.js';
import { realTarget } from '../../workspace/real-path.js';
import type { Effect, JudgedToolCall, RuleSuggestion } from '../decision.js';
import { programRow } from '../shell/flag-table.js';
import { hostOf } from '../shell/hosts.js';
import { readPlain } from '../shell/lexer.js';
import { escapePattern, pathForms } from './file-pattern.js';
import { READ_TOOLS, readRule, SPECIFIER_FIELDS } from './rule.js';

/** Of what an engine suggests; a person chooses from a list, not from a book. */
const MOST_OF_ENGINE = 8;

/** A longer command makes no useful rule. */
const MAX_COMMAND = 1_000;

/** Programs that a rule of two words would give too much of. */
const TOO_MUCH = new Set(
  'rm rmdir mv cp ln dd chmod chown chgrp kill pkill killall shutdown reboot mkfs mount umount truncate shred install find sed awk tar zip unzip curl wget'.split(
    ' ',
  ),
);

/** Ours first, then what the engine thought of besides. None where no rule may be made of the question. */
export function candidateRules(call: JudgedToolCall, home: string): RuleSuggestion[] {
  if (call.hints?.suppressAlways) return [];
  const found = call.effects.flatMap((effect) => forEffect(call, effect, home));
  if (call.effects.length === 0 || call.needsPermissions) found.push(...forTool(call));
  found.push(...byEngine(call));
  const seen = new Set<string>();
  return found.filter(({ rule }) => {
    if (seen.has(rule) || ruleProblem(rule) !== undefined) return false;
    seen.add(rule);
    return true;
  });
}

const allow = (rule: string, covers: string): RuleSuggestion => ({ rule, behaviour: 'allow', covers });

/** Every command is more than any question asks. */
function byEngine({ engineRules = [] }: JudgedToolCall): RuleSuggestion[] {
  return engineRules
    .filter(({ rule }) => rule !== 'Bash' && ruleProblem(rule) === undefined)
    .slice(0, MOST_OF_ENGINE)
    .map(({ rule, scope }) => ({
      rule,
      behaviour: 'allow',
      covers: describeRule(rule),
      source: 'engine',
      scope,
    }));
}

function forEffect(call: JudgedToolCall, effect: Effect, home: string): RuleSuggestion[] {
  switch (effect.kind) {
    case 'read':
      return forFile(call, 'Read', effect.path, effect.tree === true, home);
    case 'edit':
      return forFile(call, 'Edit', effect.path, false, home);
    case 'fetch': {
      const host = hostOf(effect.url);
      return host === undefined ? [] : [allow(`WebFetch(domain:${host})`, `pages of ${host}`)];
    }
    case 'command':
      return effect.withVariables === true ? [] : forCommand(effect.command);
  }
}

/** Bash and files have rules that are narrower than their name. */
function forTool({ tool }: JudgedToolCall): RuleSuggestion[] {
  if (/^(?:Bash|WebFetch|Read|Edit|Write|MultiEdit|NotebookEdit|Grep|Glob|LS|NotebookRead)$/.test(tool))
    return [];
  return [allow(tool, tool.startsWith('mcp__') ? 'this tool of the MCP server' : 'every call of this tool')];
}

function forFile(
  call: JudgedToolCall,
  tool: 'Read' | 'Edit',
  path: string,
  tree: boolean,
  home: string,
): RuleSuggestion[] {
  const does = tool === 'Read' ? 'reading' : 'changing';
  const real = realTarget(path);
  const pattern = patternFor(real, call, home);
  if (pattern === '.') return [allow(tool, `${does} everything in the workspace`)];
  if (tree) return [allow(`${tool}(${pattern}/**)`, `${does} everything in ${pattern}`)];
  const suggestions = [allow(`${tool}(${pattern})`, `${does} this file`)];
  const folder = patternFor(dirname(real), call, home);
  if (folder === '.') suggestions.push(allow(tool, `${does} everything in the workspace`));
  else if (dirname(real) !== home && dirname(dirname(real)) !== '/' && dirname(real) !== '/') {
    suggestions.push(allow(`${tool}(${folder}/**)`, `${does} everything in ${folder}`));
  }
  return suggestions;
}

/** `.` is the workspace itself. */
function patternFor(path: string, call: JudgedToolCall, home: string): string {
  const forms = pathForms(path, call.location.root, home);
  if (forms.workspace !== undefined) {
    return forms.workspace === '' ? '.' : `./${escapePattern(forms.workspace)}`;
  }
  if (forms.home !== undefined && forms.home !== '') return `~/${escapePattern(forms.home)}`;
  return `//${escapePattern(forms.root)}`;
}

function forCommand(command: string): RuleSuggestion[] {
  const text = command.trim();
  if (text.length > MAX_COMMAND || text.endsWith(':*')) return [];
  const suggestions = [allow(`Bash(${text})`, 'exactly this command')];
  const reading = readPlain(text);
  if (!reading.plain || reading.commands.length !== 1) return suggestions;
  const words = reading.commands[0]?.words ?? [];
  const [program = '', second = ''] = words;
  const plainWord = /^[A-Za-z][A-Za-z0-9:_-]*$/;
  const row = programRow(program);
  // The second word must be one that narrows: a sub-command or a task, not a file or a flag.
  if (!/^[A-Za-z0-9._/-]+$/.test(program) || !plainWord.test(second) || TOO_MUCH.has(program))
    return suggestions;
  if (row?.operands === 'always' || row?.operands === 'command') return suggestions;
  suggestions.push(
    allow(`Bash(${program} ${second}:*)`, `every plain command that begins with \`${program} ${second}\``),
  );
  return suggestions;
}

/** What a rule covers, in a few words for the person who is about to make it. */
export function describeRule(rule: string): string {
  if (rule === '*') return 'every call of every tool';
  const target = readRule(rule, false);
  switch (target.kind) {
    case 'tool':
      return byName(target.name);
    case 'tools':
      return target.prefix === ''
        ? 'every call of every tool'
        : `every tool whose name begins with ${target.prefix}`;
    case 'server':
      return `every tool of the MCP server ${target.server}`;
    case 'command':
      return 'exactly this command';
    case 'command-prefix':
      return target.words.length === 0
        ? 'every plain command'
        : `every plain command that begins with \`${target.words.join(' ')}\``;
    case 'file':
      return `${doing(target.tool)} ${target.pattern}${target.pattern.endsWith('/**') ? '' : ' and, if it is a folder, everything in it'}`;
    case 'host':
      if (target.host === undefined) return 'nothing: the host cannot be read';
      return target.below ? `pages of every host below ${target.host}` : `pages of ${target.host}`;
    case 'field': {
      const field = SPECIFIER_FIELDS[target.tool];
      return field === undefined
        ? `nothing: ${target.tool} has no part that a specifier could be about`
        : `calls of ${target.tool} whose ${field} is ${target.text}`;
    }
  }
}

const FILE_TOOLS: Readonly<Record<string, string>> = {
  Read: 'reading everything in the workspace',
  Edit: 'changing everything in the workspace',
};

function byName(tool: string): string {
  const known = FILE_TOOLS[tool];
  if (known !== undefined) return known;
  if (tool === 'Bash') return 'every command';
  if (tool === 'WebFetch') return 'pages of every host';
  return tool.startsWith('mcp__') ? 'this tool of the MCP server' : 'every call of this tool';
}

function doing(tool: string): string {
  if (tool === 'Read') return 'reading';
  if (tool === 'Edit') return 'changing';
  return `${READ_TOOLS.has(tool) ? 'reading' : 'changing'} with ${tool}`;
}
