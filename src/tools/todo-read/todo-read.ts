/** Shows the session's list of things to do. */
import * as z from 'zod';
import type { Todo } from '../runtime/todos.js';
import type { Tool } from '../runtime/tool.js';

/** Models like to fill in an argument of a tool that has none. */
const inputSchema = z.object({});

type TodoReadInput = z.output<typeof inputSchema>;

const MARKS: Readonly<Record<Todo['status'], string>> = {
  completed: '[x]',
  in_progress: '[~]',
  pending: '[ ]',
};

export function renderTodos(todos: readonly Todo[]): string {
  return todos
    .map(({ content, status }, index) => `${index + 1}. ${MARKS[status]} ${content.replace(/\s+/g, ' ')}`)
    .join('\n');
}

export const todoReadTool: Tool<TodoReadInput> = {
  name: 'TodoRead',
  userFacingName: () => 'Read the to-do list',
  description: 'Shows the to-do list of this conversation. Takes no arguments.',
  inputSchema,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => false,
  prompt:
    'TodoRead shows what TodoWrite last recorded: [x] is done, [~] is being done, [ ] is still open. Look at it ' +
    'when you come back to a long task and are not sure what is left.',
  async *call(_input, context) {
    const todos = context.session.todos.read();
    yield {
      type: 'result',
      resultForAssistant: todos.length === 0 ? 'The to-do list is empty.' : renderTodos(todos),
      data: { todos },
    };
  },
  describe: () => ({ title: 'Read the to-do list', kind: 'other', paths: [] }),
};
