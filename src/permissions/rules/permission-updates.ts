/**
 * The permission updates of Claude Code's SDK (`addRules`, `addDirectories` …) as rules of the
 * gateway. Claude Code's rules look alike and mean other things in places: what cannot be said
 * exactly is left out, with the reason.
 */
import { relative, resolve } from 'node:path';
import * as z from 'zod';
import { ruleProblem } from '../../config/rule-syntax.js';
import type { RuleBehaviour, RuleReach } from '../../store/rules.js';
import { escapePattern, pathForms } from './file-pattern.js';
import { isFileTool } from './rule.js';

interface UpdateRule {
  rule: string;
  behaviour: RuleBehaviour;
  scope: Exclude<RuleReach['scope'], 'once'>;
}

interface ReadUpdates {
  rules: UpdateRule[];
  /** A sentence for each that became no rule. */
  leftOut: string[];
}

/** What paths in them are relative to. */
export interface UpdateLocation {
  root: string;
  cwd: string;
  home: string;
}

const SCOPES = {
  session: 'session',
  cliArg: 'session',
  localSettings: 'project',
  projectSettings: 'project',
  userSettings: 'everywhere',
} as const satisfies Record<string, UpdateRule['scope']>;

const destination = z.enum(['session', 'cliArg', 'localSettings', 'projectSettings', 'userSettings'], {
  error: 'expected one of session, localSettings, projectSettings, userSettings',
});
const text = z.string({ error: 'expected a string' });

const ruleUpdate = z.looseObject({
  type: z.enum(['addRules', 'replaceRules', 'removeRules']),
  rules: z.array(z.looseObject({ toolName: text, ruleContent: text.nullish() })),
  behavior: z.enum(['allow', 'deny', 'ask'], { error: 'expected one of allow, ask, deny' }),
  destination,
});
const folderUpdate = z.looseObject({
  type: z.enum(['addDirectories', 'removeDirectories']),
  directories: z.array(text),
  destination,
});
const modeUpdate = z.looseObject({ type: z.literal('setMode'), mode: text, destination });

/** One update as the SDK has it. */
export const permissionUpdate = z.discriminatedUnion('type', [ruleUpdate, folderUpdate, modeUpdate], {
  error: 'expected an update with the type addRules, addDirectories or setMode',
});

type PermissionUpdateLike = z.output<typeof permissionUpdate>;

/** Never throws: what is no update at all is left out. */
export function readUpdates(updates: readonly unknown[], location: UpdateLocation): ReadUpdates {
  const read: ReadUpdates = { rules: [], leftOut: [] };
  for (const given of updates) {
    const update = permissionUpdate.safeParse(given).data;
    if (update === undefined) read.leftOut.push('What is no update of permissions became no rule.');
    else readUpdate(update, location, read);
  }
  return read;
}

function readUpdate(update: PermissionUpdateLike, location: UpdateLocation, into: ReadUpdates): void {
  switch (update.type) {
    case 'addRules': {
      const scope = SCOPES[update.destination];
      for (const { toolName, ruleContent } of update.rules) {
        const rule = toRule(toolName, ruleContent ?? undefined, location);
        if ('problem' in rule) into.leftOut.push(rule.problem);
        else into.rules.push({ rule: rule.rule, behaviour: update.behavior, scope });
      }
      return;
    }
    case 'addDirectories': {
      const scope = SCOPES[update.destination];
      for (const folder of update.directories) {
        const pattern = folderPattern(resolve(location.cwd, folder), location);
        for (const tool of ['Read', 'Edit'])
          into.rules.push({ rule: `${tool}(${pattern})`, behaviour: 'allow', scope });
      }
      return;
    }
    case 'replaceRules':
    case 'removeRules':
    case 'removeDirectories':
    case 'setMode':
      into.leftOut.push(`${update.type} became no rule: it changes settings that the gateway does not have.`);
  }
}

function toRule(
  tool: string,
  content: string | undefined,
  location: UpdateLocation,
): { rule: string } | { problem: string } {
  const written = content === undefined ? tool : `${tool}(${content})`;
  const rule =
    content === undefined
      ? tool
      : tool === 'Bash'
        ? commandRule(content)
        : isFileTool(tool)
          ? `${tool}(${filePattern(content, location)})`
          : written;
  const problem = rule === undefined ? 'its wildcard has no counterpart' : ruleProblem(rule);
  if (rule === undefined || problem !== undefined) {
    return { problem: `${written.slice(0, 200)} became no rule: ${problem}.` };
  }
  return { rule };
}

/** `git log *` is what `git log:*` is here; a wildcard elsewhere means nothing that a rule could say. */
function commandRule(content: string): string | undefined {
  const words = /(?::| )\*$/.test(content) ? content.slice(0, -2) : undefined;
  if ((words ?? content).includes('*')) return undefined;
  return words === undefined ? `Bash(${content})` : `Bash(${words.trim()}:*)`;
}

/** There `/x` is below the project, and `x` or `./x` below the current folder. */
function filePattern(content: string, { root, cwd }: UpdateLocation): string {
  if (content.startsWith('//') || content.startsWith('~')) return content;
  if (content.startsWith('/')) return `.${content}`;
  const below = relative(root, cwd);
  const own = content.startsWith('./') ? content.slice(2) : content;
  const anywhere = !content.startsWith('./') && !content.replace(/\/(?:\*\*)?$/, '').includes('/');
  if (below === '') return anywhere ? content : `./${own}`;
  const folder = below.startsWith('..') ? `//${escapePattern(cwd.slice(1))}` : `./${escapePattern(below)}`;
  return `${folder}/${anywhere ? '**/' : ''}${own}`;
}

function folderPattern(folder: string, { root, home }: UpdateLocation): string {
  const forms = pathForms(folder, root, home);
  if (forms.workspace !== undefined)
    return forms.workspace === '' ? './**' : `./${escapePattern(forms.workspace)}/**`;
  if (forms.home !== undefined && forms.home !== '') return `~/${escapePattern(forms.home)}/**`;
  return `//${escapePattern(forms.root)}/**`;
}
