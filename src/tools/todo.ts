/** The session's list of things to do: TodoRead shows it, TodoWrite replaces it. */
import * as z from 'zod';
import { TODO_STATES, type Todo } from './runtime/context.js';
import type { Tool } from './runtime/tool.js';

/** Models like to fill in an argument of a tool that has none. */
const readSchema = z.object({});

type TodoReadInput = z.output<typeof readSchema>;

const MARKS: Readonly<Record<Todo['status'], string>> = {
  completed: '[x]',
  in_progress: '[~]',
  pending: '[ ]',
};

function renderTodos(todos: readonly Todo[]): string {
  return todos
    .map(({ content, status }, index) => `${index + 1}. ${MARKS[status]} ${content.replace(/\s+/g, ' ')}`)
    .join('\n');
}

export const todoReadTool: Tool<TodoReadInput> = {
  name: 'TodoRead',
  userFacingName: () => 'Read the to-do list',
  description: 'Shows the to-do list of this conversation. Takes no arguments.',
  inputSchema: readSchema,
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

const LIMITS = { items: 200, chars: 2000 };

const line = (description: string) => z.string().trim().min(1).max(LIMITS.chars).describe(description);

const writeSchema = z.strictObject({
  todos: z
    .array(
      z.object({
        content: line('What is to be done: "Run the tests".'),
        status: z.enum(TODO_STATES),
        activeForm: line('The same as it is being done: "Running the tests".'),
      }),
    )
    .max(LIMITS.items)
    .describe('The whole list, in order. It takes the place of the old one; an empty list clears it.'),
});

type TodoWriteInput = z.output<typeof writeSchema>;

export const todoWriteTool: Tool<TodoWriteInput> = {
  name: 'TodoWrite',
  userFacingName: () => 'Update the to-do list',
  description:
    'Keeps the to-do list of this conversation. Give the whole list each time: it replaces the old one.',
  inputSchema: writeSchema,
  isReadOnly: () => true,
  // Two lists in one message: the later one must win.
  isConcurrencySafe: () => false,
  needsPermissions: () => false,
  prompt:
    'Use TodoWrite for work of three steps or more, and when the user gives several tasks at once. Mark one ' +
    'item in_progress before you start on it and completed as soon as it is truly done; an item that failed or ' +
    'is blocked stays open, with a new item for what is in the way. Leave it out for a single small step.',
  async *call(input, context) {
    const oldTodos = context.session.todos.replace(input.todos);
    yield {
      type: 'result',
      resultForAssistant: answerTo(input),
      data: { oldTodos, newTodos: input.todos },
    };
  },
  describe: (input) => ({
    title: input.todos.length === 0 ? 'Clear the to-do list' : `Update the to-do list (${progress(input)})`,
    kind: 'other',
    paths: [],
    detail: renderTodos(input.todos),
  }),
};

function answerTo({ todos }: TodoWriteInput): string {
  if (todos.length === 0) return 'The to-do list is empty now.';
  const active = todos.filter(({ status }) => status === 'in_progress').length;
  const open = todos.some(({ status }) => status === 'pending');
  const advice =
    active > 1
      ? ` ${active} items are in progress at once: finish one before the next, so that people can follow.`
      : active === 0 && open
        ? ' No item is in progress: mark the one that you start on.'
        : '';
  return `The to-do list is saved (${progress({ todos })}).${advice}`;
}

function progress({ todos }: TodoWriteInput): string {
  const done = todos.filter(({ status }) => status === 'completed').length;
  return `${done} of ${todos.length} done`;
}
