/** What Claude Code says about a call that it asks about, as questions of the gateway carry it. */
import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import type { JsonObject } from '../../../core/conversation.js';
import type { AskHints, EngineRule } from '../../../permissions/hints.js';
import { readUpdates, type UpdateLocation } from '../../../permissions/rules/permission-updates.js';

export type AskOptions = Parameters<CanUseTool>[2];

interface EngineAsk {
  hints: AskHints;
  rules: readonly EngineRule[];
}

/** `input`: of the call; what Claude Code only repeats of it is no hint. */
export function askOf(options: AskOptions, input: JsonObject, place: UpdateLocation): EngineAsk {
  const { blockedPath, decisionReason, title, description, mcpServer, matchedAskRule } = options;
  const reason = reasonOf(decisionReason, matchedAskRule);
  return {
    hints: {
      ...(options.defaultToNo === true ? { defaultToNo: true } : {}),
      ...(options.suppressAlwaysAllowRule === true ? { suppressAlways: true } : {}),
      ...(blockedPath ? { blockedPath } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(title ? { title } : {}),
      ...(description && !repeats(description, input) ? { description } : {}),
      ...(mcpServer === undefined ? {} : { mcpServer: { name: mcpServer.name, source: mcpServer.source } }),
    },
    rules: readUpdates(options.suggestions ?? [], place).rules.flatMap(({ rule, behaviour, scope }) =>
      behaviour === 'allow' ? [{ rule, scope }] : [],
    ),
  };
}

/** It describes a command by the command, and a file by the end of its path. */
function repeats(description: string, input: JsonObject): boolean {
  return Object.values(input).some((value) => typeof value === 'string' && value.endsWith(description));
}

/** A rule of the user's that asks is a reason of its own, whatever else there is. */
function reasonOf(given: string | undefined, matched: AskOptions['matchedAskRule']): string | undefined {
  const said = given === '' ? undefined : given;
  if (matched === undefined) return said;
  const { toolName, ruleContent, source } = matched;
  const rule = ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
  const forced = `The rule ${rule} of Claude Code (${source}) asks for it.`;
  return said === undefined ? forced : `${said} ${forced}`;
}
