import { useId } from 'react';
import { useText } from '../text/language.js';
import { classes } from './classes.js';
import { strings } from './strings.js';

interface ToggleProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean | undefined;
  hint?: string | undefined;
}

export function Toggle({ label, checked, onChange, disabled = false, hint }: ToggleProps) {
  const id = useId();
  const text = useText(strings);
  return (
    <div className="flex min-w-0 items-start gap-2.5">
      <button
        type="button"
        role="switch"
        aria-checked={checked}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        disabled={disabled}
        onClick={() => onChange(!checked)}
        className={classes(
          'relative mt-px inline-flex h-5 w-9 shrink-0 cursor-pointer items-center rounded-full border transition-colors disabled:cursor-not-allowed disabled:opacity-55',
          checked ? 'border-accent bg-accent' : 'border-muted bg-raised',
        )}
      >
        <span
          aria-hidden="true"
          className={classes(
            'absolute left-0.5 h-3.5 w-3.5 rounded-full transition-transform',
            checked ? 'translate-x-4 bg-on-accent' : 'bg-muted',
          )}
        />
      </button>
      <div className="min-w-0 text-sm">
        <span id={`${id}-label`}>{label}</span>
        <span aria-hidden="true" className="ml-1.5 text-xs text-muted">
          {checked ? text.on : text.off}
        </span>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
