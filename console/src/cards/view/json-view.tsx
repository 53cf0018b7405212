/** Any value, to open and close. Long texts and long lists are shown in steps. */
import { useId, useState } from 'react';
import { useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { ChevronRightIcon } from '../../ui/icons.js';
import { VisibleText } from '../../ui/visible-text.js';
import { strings } from './strings.js';

const SHOWN = { depth: 2, items: 50, moreItems: 500, chars: 400 };

export function JsonView({ value, label }: { value: unknown; label: string }) {
  return (
    <section aria-label={label} className="min-w-0 font-mono text-xs leading-relaxed">
      <Node value={value} depth={0} />
    </section>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  if (typeof value === 'object' && value !== null) return <Branch name={name} value={value} depth={depth} />;
  return (
    <div className="flex min-w-0 gap-1.5 py-px pl-5">
      <Name name={name} />
      {typeof value === 'string' ? <Text value={value} /> : <Atom value={value} />}
    </div>
  );
}

function Branch({ name, value, depth }: { name: string | undefined; value: object; depth: number }) {
  const text = useText(strings);
  const id = useId();
  const entries = Object.entries(value);
  const [open, setOpen] = useState(depth < SHOWN.depth && entries.length <= SHOWN.items);
  const [shown, setShown] = useState(SHOWN.items);
  const left = entries.length - shown;
  const list = Array.isArray(value);
  if (entries.length === 0) {
    return (
      <div className="flex gap-1.5 py-px pl-5">
        <Name name={name} />
        <span className="text-muted">{list ? '[]' : '{}'}</span>
      </div>
    );
  }
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        className="flex max-w-full cursor-pointer items-center gap-1 rounded py-px text-left hover:bg-raised"
      >
        <ChevronRightIcon
          size={14}
          className={classes('shrink-0 text-muted transition-transform', open && 'rotate-90')}
        />
        <Name name={name} />
        <span className="text-muted">
          {list ? text.entries(entries.length) : text.fields(entries.length)}
        </span>
      </button>
      {open && (
        <div id={id} className="ml-1.5 border-l border-line pl-1.5">
          {entries.slice(0, shown).map(([key, each]) => (
            <Node key={key} name={key} value={each} depth={depth + 1} />
          ))}
          {left > 0 && (
            <More text={text.moreEntries(left)} onClick={() => setShown(shown + SHOWN.moreItems)} />
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <span className="shrink-0 text-info">
      <VisibleText text={name} />:
    </span>
  );
}

function Text({ value }: { value: string }) {
  const text = useText(strings);
  const [all, setAll] = useState(false);
  const long = value.length > SHOWN.chars && !all;
  return (
    <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">
      <VisibleText text={long ? `${value.slice(0, SHOWN.chars)}…` : value} />
      {value === '' && <span className="text-muted">{text.emptyText}</span>}
      {long && <More text={text.moreCharacters(value.length - SHOWN.chars)} onClick={() => setAll(true)} />}
    </span>
  );
}

function Atom({ value }: { value: unknown }) {
  return <span className="text-accent">{String(value)}</span>;
}

function More({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="ml-1.5 cursor-pointer rounded px-1 font-sans text-accent underline underline-offset-2 hover:bg-raised"
    >
      {text}
    </button>
  );
}
