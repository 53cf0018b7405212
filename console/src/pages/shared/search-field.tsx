import { useEffect, useRef, useState } from 'react';
import { useText } from '../../text/language.js';
import { IconButton } from '../../ui/icon-button.js';
import { CloseIcon, SearchIcon } from '../../ui/icons.js';
import { Input } from '../../ui/input.js';
import { strings } from './strings.js';

/** Long enough for a word to be typed. */
const SETTLE_MS = 250;

/** Reports the text when typing pauses; Enter reports it at once. */
export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const text = useText(strings);
  const [typed, setTyped] = useState(value);
  const reported = useRef(value);
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => {
    // Changed from elsewhere: the address.
    if (value !== reported.current) {
      reported.current = value;
      setTyped(value);
    }
  }, [value]);
  const say = (next: string) => {
    if (next === reported.current) return;
    reported.current = next;
    tell.current(next);
  };
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string, at: 'once' | 'pause') => {
    setTyped(next);
    clearTimeout(timer.current);
    if (at === 'once') say(next);
    else timer.current = setTimeout(() => say(next), SETTLE_MS);
  };
  return (
    <search className="relative min-w-0 flex-1 basis-52 sm:max-w-sm">
      <SearchIcon className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-muted" />
      <Input
        type="text"
        inputMode="search"
        enterKeyHint="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        className="!pr-8 !pl-8"
        onChange={(event) => type(event.target.value, 'pause')}
        onKeyDown={(event) => {
          if (event.key === 'Enter') type(typed, 'once');
        }}
      />
      {typed !== '' && (
        <IconButton
          label={text.clearSearch}
          size="small"
          className="absolute top-1 right-1"
          onClick={() => type('', 'once')}
        >
          <CloseIcon size={14} />
        </IconButton>
      )}
    </search>
  );
}
