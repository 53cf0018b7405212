/** The agent's to-do list, in sight while a turn runs. */
import { useMemo } from 'react';
import { latestTodos } from '../cards/parse/todos.js';
import { ScrollArea } from '../cards/view/scroll-area.js';
import { TodoList } from '../cards/view/todo-list.js';
import type { Part } from '../data/reducer/view.js';
import { useText } from '../text/language.js';
import { Disclosure } from '../ui/disclosure.js';
import { VisibleText } from '../ui/visible-text.js';
import { strings } from './strings.js';

export function TodoLine({ parts }: { parts: readonly Part[] }) {
  const text = useText(strings);
  const todos = useMemo(() => latestTodos(parts), [parts]);
  if (todos.length === 0) return null;
  const done = todos.filter(({ status }) => status === 'completed').length;
  const now = todos.find(({ status }) => status === 'in_progress');
  return (
    <section
      aria-label={text.todoList}
      className="mx-auto w-full max-w-3xl px-3 pb-1 text-muted sm:px-4"
      data-todos={todos.length}
    >
      <Disclosure
        summary={
          <span className="block truncate">
            <span className="tabular-nums">{text.todosDone(done, todos.length)}</span>
            {now !== undefined && (
              <>
                {' · '}
                <span className="text-ink">
                  <VisibleText text={now.text} />
                </span>
              </>
            )}
          </span>
        }
      >
        <ScrollArea label={text.todoList} maxHeight="max-h-40" className="bg-surface p-2 text-ink">
          <TodoList todos={todos} />
        </ScrollArea>
      </Disclosure>
    </section>
  );
}
