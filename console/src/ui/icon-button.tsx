import type { ReactNode } from 'react';
import { Button, type ButtonProps } from './button.js';
import { classes } from './classes.js';

interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'aria-label'> {
  /** What it does, in words. */
  label: string;
  /** An icon. */
  children: ReactNode;
}

/** At least 28 px in each direction, also on a phone. */
export function IconButton({
  label,
  children,
  variant = 'ghost',
  size = 'normal',
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Button
      variant={variant}
      size={size}
      aria-label={label}
      title={label}
      className={classes(size === 'small' ? 'min-w-7 !px-1' : 'min-w-9 !px-1.5', className)}
      {...rest}
    >
      {children}
    </Button>
  );
}
