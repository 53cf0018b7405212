import { VisibleText } from '../../ui/visible-text.js';

/** Longer names are cut in a list. */
const SHOWN = 300;

/** A name that comes from outside: bounded, on one line or two, with what cannot be seen made visible. */
export function ShortText({
  text,
  lines = 1,
  mono = false,
}: {
  text: string;
  lines?: 1 | 2;
  mono?: boolean;
}) {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const clamp = lines === 1 ? 'line-clamp-1' : 'line-clamp-2';
  return (
    <span
      className={`${clamp} min-w-0 ${mono ? 'font-mono text-xs break-all' : 'break-words'}`}
      title={shown}
    >
      <VisibleText text={shown} />
    </span>
  );
}
