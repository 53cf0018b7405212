import { classes } from './classes.js';

/** `label` is read out and, with `show`, seen. */
export function Spinner({
  label,
  show = false,
  size = 16,
}: {
  label: string;
  show?: boolean | undefined;
  size?: number | undefined;
}) {
  return (
    <span className="inline-flex items-center gap-2 text-muted">
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        className="animate-spin motion-reduce:animate-none"
        aria-hidden="true"
      >
        <circle cx="12" cy="12" r="9" stroke="currentColor" strokeOpacity="0.25" strokeWidth="3" />
        <path d="M21 12a9 9 0 0 0-9-9" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
      </svg>
      <span className={classes(!show && 'sr-only')}>{label}</span>
    </span>
  );
}
