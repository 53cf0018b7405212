/** The tools that agents have, also those that are off, with the reason and the models that have them. */
import type { ListedTool } from '../../tools/runtime/runtime.js';
import { isSelected } from '../../tools/runtime/selection.js';
import { seesModel } from '../access/auth.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import type { About } from './about.js';
import type { ConsoleApiHandler } from './context.js';

export const listTools: ConsoleApiHandler = async (exchange, { tools, about }) => {
  const { principal } = exchange;
  const agents = about.agents.filter(({ name }) => seesModel(principal, name));
  const data = (await tools.list({ key: principal.name })).map((tool) => toWire(tool, agents));
  sendJson(exchange, 200, { data }, NO_STORE);
};

function toWire(tool: ListedTool, agents: About['agents']): object {
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
    models: tool.enabled ? agents.filter(({ tools }) => mayHave(tool, tools)).map(({ name }) => name) : [],
  };
}

/** With `requested` a client may ask for any of them. */
function mayHave(tool: ListedTool, selection: About['agents'][number]['tools']): boolean {
  return isSelected({ tool, origin: tool.source }, selection, [tool.name]);
}
