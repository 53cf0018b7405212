import { useText } from '../text/language.js';
import { strings } from './strings.js';

/** Where something will be: so many lines of it. */
export function Skeleton({ lines = 3 }: { lines?: number | undefined }) {
  const text = useText(strings);
  return (
    <div role="status" className="flex flex-col gap-2.5 py-1">
      <span className="sr-only">{text.loading}</span>
      {WIDTHS.slice(0, Math.max(1, Math.min(lines, WIDTHS.length))).map((width) => (
        <div
          key={width}
          aria-hidden="true"
          className={`h-4 animate-pulse rounded bg-raised motion-reduce:animate-none ${width}`}
        />
      ))}
    </div>
  );
}

const WIDTHS = ['w-11/12', 'w-4/5', 'w-2/3', 'w-5/6', 'w-3/4', 'w-1/2', 'w-full', 'w-3/5'] as const;
