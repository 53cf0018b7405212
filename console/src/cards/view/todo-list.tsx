import { useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { CheckIcon, ClockIcon } from '../../ui/icons.js';
import { VisibleText } from '../../ui/visible-text.js';
import type { Todo } from '../parse/tool-output.js';
import { strings } from './strings.js';

const LOOK: Record<Todo['status'], { box: string; text: string }> = {
  pending: { box: 'border-line', text: '' },
  in_progress: { box: 'border-info bg-info-soft text-info', text: 'font-medium' },
  completed: { box: 'border-ok bg-ok-soft text-ok', text: 'text-muted line-through' },
};

export function TodoList({ todos }: { todos: readonly Todo[] }) {
  const text = useText(strings);
  return (
    <ul className="space-y-1 text-sm">
      {todos.map(({ text: what, status }, index) => {
        const key = `${index}`;
        const look = LOOK[status];
        return (
          <li key={key} className="flex items-start gap-2">
            <span
              aria-hidden="true"
              className={classes(
                'mt-0.5 flex h-4 w-4 shrink-0 items-center justify-center rounded border',
                look.box,
              )}
            >
              {status === 'completed' && <CheckIcon size={12} />}
              {status === 'in_progress' && <ClockIcon size={12} />}
            </span>
            <span className={classes('min-w-0 flex-1 wrap-anywhere', look.text)}>
              <VisibleText text={what} />
            </span>
            <span className="shrink-0 text-xs text-muted">{text.todo[status]}</span>
          </li>
        );
      })}
    </ul>
  );
}
