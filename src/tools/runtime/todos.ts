/** The list of things to do that a session keeps. Replaced whole, as models write it. */

export const TODO_STATES = ['pending', 'in_progress', 'completed'] as const;

export interface Todo {
  content: string;
  status: (typeof TODO_STATES)[number];
  /** The same in the present tense, for while it is being done. */
  activeForm: string;
}

export interface TodoList {
  read(): readonly Todo[];
  /** Returns what stood there before. */
  replace(todos: readonly Todo[]): readonly Todo[];
}

export function createTodoList(): TodoList {
  let current: readonly Todo[] = [];
  return {
    read: () => current,
    replace(todos) {
      const before = current;
      current = todos.map((todo) => ({ ...todo }));
      return before;
    },
  };
}
