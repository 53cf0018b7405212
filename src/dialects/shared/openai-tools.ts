/** What OpenAI's two wires say alike about tools. */
import type { JsonObject, ToolChoice, ToolDefinition } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import type { LossLog } from '../../core/losses.js';
import type { Quirks } from './quirks.js';
import { fail } from './read.js';

/** Adds what a function says of itself and of what it takes. */
export function describeTool(tool: ToolDefinition, value: JsonObject, path: string): ToolDefinition {
  const { description, parameters } = value;
  if (description !== undefined && description !== null) {
    tool.description =
      typeof description === 'string' ? description : fail(`${path}.description`, 'a string', description);
  }
  if (parameters !== undefined && parameters !== null) {
    tool.inputSchema = isObject(parameters)
      ? parameters
      : fail(`${path}.parameters`, 'an object', parameters);
  }
  return tool;
}

/**
 * The kind of choice that the upstream takes: what is asked for, or a weaker one. Undefined where it
 * takes neither; where no tool may be called, and that cannot be said, no tool is sent.
 */
export function takenChoice(
  { type }: ToolChoice,
  { quirks, losses }: { quirks: Quirks; losses: LossLog },
  body: JsonObject,
): ToolChoice['type'] | undefined {
  if (quirks.toolChoice.includes(type)) return type;
  const weaker = type === 'tool' && quirks.toolChoice.includes('any') ? 'any' : 'auto';
  losses.add(
    'tool_choice',
    `the upstream does not know ${type}; ${type === 'none' ? 'no tool was sent' : `sent ${weaker}`}`,
  );
  if (type === 'none') delete body['tools'];
  else if (quirks.toolChoice.includes(weaker)) return weaker;
  return undefined;
}
