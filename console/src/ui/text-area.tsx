import type { Ref, TextareaHTMLAttributes } from 'react';
import { classes } from './classes.js';
import { useField } from './field.js';
import { INPUT_CLASSES } from './input.js';

interface TextAreaProps extends TextareaHTMLAttributes<HTMLTextAreaElement> {
  ref?: Ref<HTMLTextAreaElement> | undefined;
}

export function TextArea({ className, rows = 3, ...rest }: TextAreaProps) {
  const field = useField();
  return (
    <textarea
      id={field?.id}
      aria-describedby={field?.describedBy}
      aria-invalid={field?.invalid || undefined}
      rows={rows}
      className={classes('resize-y', INPUT_CLASSES, className)}
      {...rest}
    />
  );
}
