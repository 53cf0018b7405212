/** `toolgate/tools`: what a file with tools of one's own imports. */
import type { OwnTool } from './runtime/define-tool.js';

export type { JsonObject, Message, ToolResultContent } from '../core/conversation.js';
export type { Effect } from '../permissions/decision.js';
export type { Description } from '../permissions/gate.js';
export type { ToolPermission, ToolState } from './runtime/context.js';
export type {
  CanUseTool,
  OwnResult,
  OwnTool,
  OwnToolContext as ToolContext,
  OwnValidation,
} from './runtime/define-tool.js';
export {
  type Asker,
  type Enablement,
  type PromptOptions,
  ToolError,
  type ToolLimits,
  type ToolProgress,
  type ToolResult,
} from './runtime/tool.js';

/** Gives the definition back as it is, with its types checked: the gateway completes it when it loads the file. */
export function defineTool<Input>(definition: OwnTool<Input>): OwnTool<Input> {
  return definition;
}
