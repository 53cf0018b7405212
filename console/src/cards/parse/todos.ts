/** The to-do list of the main agent, as the last call left it that wrote one. */
import type { Part } from '../../data/reducer/view.js';
import { type Todo, todosOf } from './tool-output.js';

/** Empty where there is none, and where the agent was done with it before the last thing that was said. */
export function latestTodos(parts: readonly Part[]): readonly Todo[] {
  let isOlder = false;
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index];
    if (part?.kind === 'user') isOlder = true;
    if (part?.kind !== 'tool' || part.card.name !== 'TodoWrite' || part.card.state !== 'success') continue;
    const todos = todosOf(part.card.input);
    const isDone = todos.every(({ status }) => status === 'completed');
    return isOlder && isDone ? [] : todos;
  }
  return [];
}
