/**
 * Errors of own tools reach the model with their message, whatever their class: whoever wrote the
 * tool wrote the sentence as well. Secrets of the configuration are taken out of it.
 */
import { GatewayError } from '../../core/errors.js';
import type { RuntimeLog } from './runtime-log.js';
import { type Tool, ToolError } from './tool.js';
import { isToolError } from './tool-error.js';

export interface TellingOptions {
  redact(text: string): string;
  log: RuntimeLog;
}

export function tellingErrors(tool: Tool, { redact, log }: TellingOptions): Tool {
  const told = (thrown: unknown): unknown => {
    if (thrown instanceof GatewayError) return thrown;
    const known = isToolError(thrown);
    if (!known) log.error({ err: thrown, tool: tool.name }, 'an own tool failed');
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const message = redact(said.trim() === '' ? `${tool.name} failed without a message.` : said);
    return new ToolError(message, { cause: thrown, ...(known ? { data: thrown.data } : {}) });
  };
  const asking =
    <A extends readonly unknown[], R>(ask: (...args: A) => R | Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await ask(...args);
      } catch (thrown) {
        throw told(thrown);
      }
    };
  const { effects, validateInput } = tool;
  return {
    ...tool,
    ...(effects === undefined ? {} : { effects: asking(effects) }),
    ...(validateInput === undefined ? {} : { validateInput: asking(validateInput) }),
    describe: asking(tool.describe),
    async *call(input, context) {
      try {
        yield* tool.call(input, context);
      } catch (thrown) {
        // What a signal threw says nothing that the result does not say.
        throw context.signal.aborted && !isToolError(thrown) ? thrown : told(thrown);
      }
    },
  };
}
