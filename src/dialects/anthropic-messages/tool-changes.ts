/** Tools that messages in the middle of a conversation add (`tool_addition`) and withdraw (`tool_removal`). */
import type { JsonObject, Message } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { toolChangesOf } from '../../core/tool-changes.js';

/**
 * The tools of the request as the last message leaves them: declared ones in their order, then those that were
 * added. Undefined where no message changes any.
 */
export function changedTools(declared: unknown, messages: readonly Message[]): JsonObject[] | undefined {
  const changes = toolChangesOf(messages);
  if (changes.length === 0) return undefined;
  const tools = Array.isArray(declared) ? declared.filter(isObject) : [];
  const known = new Map(tools.map((tool) => [tool['name'], tool]));
  let offered = tools;
  for (const { kind, value } of changes) {
    const change = isObject(value['tool']) ? value['tool'] : {};
    const definition = isObject(change['definition']) ? change['definition'] : known.get(change['name']);
    // A name that nothing defines is its provider's error to make; others offer what they know.
    if (definition === undefined) continue;
    const { defer_loading: _deferred, ...tool } = definition;
    const { name } = tool;
    const isOffered = offered.some((each) => each['name'] === name && each['defer_loading'] !== true);
    const isSame = known.get(name) === definition;
    known.set(name, definition);
    const others = offered.filter((each) => each['name'] !== name);
    if (kind === 'tool_removal') offered = others;
    else if (kind === 'tool_addition' && !(isOffered && isSame)) offered = [...others, tool];
  }
  return offered;
}

/** All changes of a conversation as a compaction that stands for it names them: the last of each tool, definitions by value. */
export function lastToolChanges(messages: readonly Message[]): JsonObject[] {
  const definitions = new Map<unknown, JsonObject>();
  const last = new Map<unknown, JsonObject>();
  for (const { kind, value } of toolChangesOf(messages)) {
    const change = isObject(value['tool']) ? value['tool'] : {};
    const { definition } = change;
    const name = isObject(definition) ? definition['name'] : change['name'];
    if (isObject(definition)) definitions.set(name, change);
    const tool =
      kind === 'tool_addition' ? (definitions.get(name) ?? change) : { type: 'tool_reference', name };
    last.delete(name);
    last.set(name, { type: kind, tool });
  }
  return [...last.values()];
}
