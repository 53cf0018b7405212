import type { Config } from '../../config/schema.js';
import { createBuiltIns } from '../../tools/built-ins.js';
import type { Tool } from '../../tools/runtime/tool.js';
import { type Check, ok, warn } from './check.js';

/** Switched off by the configuration, which is nobody's mistake. */
const SWITCHED: ReadonlySet<string> = new Set([
  'WebSearch',
  'MemoryRead',
  'MemoryWrite',
  'Architect',
  'StickerRequest',
]);

/** The built-in tools of agents: which are on, and why one that should be is not. */
export async function checkBuiltIns(config: Config['tools']): Promise<Check[]> {
  const tools = await createBuiltIns(config).tools();
  const states = await Promise.all(tools.map(async (tool) => ({ tool, reason: await whyOff(tool) })));
  const off = states.filter(({ reason }) => reason !== undefined);
  const chosen = off.filter(({ tool }) => SWITCHED.has(tool.name)).map(({ tool }) => tool.name);
  const left = chosen.length === 0 ? '' : `; switched off: ${chosen.join(', ')}`;
  return [
    ok('tools', `${tools.length - off.length} built-ins are on${left}`),
    ...off
      .filter(({ tool }) => !SWITCHED.has(tool.name))
      .map(({ tool, reason = '' }) => warn('tools', `${tool.name} is off`, reason)),
  ];
}

async function whyOff(tool: Tool): Promise<string | undefined> {
  const state = await tool.isEnabled();
  if (state === true) return undefined;
  return state === false ? 'it says so itself' : state.reason;
}
