/** The tools that agents have, also those that are off, with the reason. */
import type { ListedTool } from '../../tools/runtime/runtime.js';
import type { Handler } from '../context.js';
import { sendJson } from '../respond.js';

export const listTools: Handler = async (exchange, { tools }) => {
  sendJson(exchange, 200, { data: (await tools.list()).map(toWire) }, { 'cache-control': 'no-store' });
};

function toWire(tool: ListedTool): object {
  return {
    name: tool.name,
    title: tool.userFacingName,
    description: tool.description,
    source: tool.source,
    server: tool.server ?? null,
    enabled: tool.enabled,
    reason: tool.reason ?? null,
    read_only: tool.readOnly ?? null,
    input_schema: tool.inputSchema,
  };
}
