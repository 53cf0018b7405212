import type { InputHTMLAttributes, Ref } from 'react';
import { classes } from './classes.js';
import { useField } from './field.js';

export const INPUT_CLASSES =
  'w-full min-w-0 rounded-md border border-line bg-surface px-3 py-1.5 text-sm text-ink placeholder:text-muted disabled:opacity-55 aria-invalid:border-danger';

interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  ref?: Ref<HTMLInputElement> | undefined;
}

/** Inside a `Field` it has that field's label, hint and error; elsewhere it needs an `aria-label`. */
export function Input({ className, ...rest }: InputProps) {
  const field = useField();
  return (
    <input
      id={field?.id}
      aria-describedby={field?.describedBy}
      aria-invalid={field?.invalid || undefined}
      className={classes('min-h-9', INPUT_CLASSES, className)}
      {...rest}
    />
  );
}
