import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { useText } from '../text/language.js';
import { classes } from './classes.js';
import { Spinner } from './spinner.js';
import { strings } from './strings.js';

export type ButtonVariant = 'primary' | 'plain' | 'danger' | 'ghost';
export type ButtonSize = 'normal' | 'small';

const VARIANTS: Record<ButtonVariant, string> = {
  primary: 'border-accent bg-accent text-on-accent hover:brightness-110',
  plain: 'border-line bg-surface text-ink hover:bg-raised',
  danger: 'border-danger bg-danger text-on-danger hover:brightness-110',
  ghost: 'border-transparent bg-transparent text-ink hover:bg-raised',
};

const SIZES: Record<ButtonSize, string> = {
  normal: 'min-h-9 px-3 py-1.5 text-sm',
  small: 'min-h-7 px-2 py-0.5 text-xs',
};

/** How a button looks, for what is none: links that act like one. */
export function buttonClasses(variant: ButtonVariant = 'plain', size: ButtonSize = 'normal'): string {
  return classes(
    'inline-flex cursor-pointer items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap no-underline',
    'transition-colors disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55',
    VARIANTS[variant],
    SIZES[size],
  );
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: ButtonVariant | undefined;
  size?: ButtonSize | undefined;
  /** Something is on its way: it keeps the focus and does nothing when pressed. */
  busy?: boolean | undefined;
  icon?: ReactNode;
  ref?: Ref<HTMLButtonElement> | undefined;
}

export function Button({
  variant = 'plain',
  size = 'normal',
  busy = false,
  icon,
  children,
  className,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  const text = useText(strings);
  return (
    <button
      type={type}
      className={classes(buttonClasses(variant, size), className)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      {busy ? <Spinner label={text.loading} size={14} /> : icon}
      {children}
    </button>
  );
}
