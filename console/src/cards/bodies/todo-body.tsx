import { useText } from '../../text/language.js';
import { todosOf } from '../parse/tool-output.js';
import { strings } from '../view/strings.js';
import { TodoList } from '../view/todo-list.js';
import { type BodyProps, failed, Labelled, ResultText } from './body.js';

export function TodoBody({ card, input }: BodyProps) {
  const text = useText(strings);
  const todos = todosOf(input.value);
  return (
    <>
      <Labelled label={text.todoList}>
        {todos.length === 0 ? (
          <p className="text-xs text-muted">{text.todoEmpty}</p>
        ) : (
          <TodoList todos={todos} />
        )}
      </Labelled>
      {failed(card) && <ResultText card={card} />}
    </>
  );
}
