/** Several of the models that a server offers. One stop for Tab, arrows inside, space chooses. */
import { type KeyboardEvent, type RefCallback, useId, useState } from 'react';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { CheckIcon } from '../ui/icons.js';
import { Input } from '../ui/input.js';
import { strings } from './form-strings.js';

/** From so many on there is a field to search in. */
const MANY = 8;
/** A provider may offer hundreds; more than these are found by searching. */
const SHOWN = 60;

interface ModelChoiceProps {
  offered: readonly string[];
  suggested: readonly string[];
  chosen: readonly string[];
  error: string | undefined;
  asFirst: RefCallback<HTMLElement> | undefined;
  onChange: (chosen: readonly string[]) => void;
}

export function ModelChoice({ offered, suggested, chosen, error, asFirst, onChange }: ModelChoiceProps) {
  const text = useText(strings);
  const id = useId();
  const [search, setSearch] = useState('');
  const [active, setActive] = useState(0);
  const wanted = search.trim().toLowerCase();
  const first = suggested.filter((model) => offered.includes(model));
  const found = [...first, ...offered.filter((model) => !first.includes(model))].filter((model) =>
    model.toLowerCase().includes(wanted),
  );
  const shown = found.slice(0, SHOWN);
  const at = Math.min(active, Math.max(0, shown.length - 1));
  const isAll = chosen.length === offered.length;
  const searches = offered.length > MANY;
  const toggle = (model: string) =>
    onChange(chosen.includes(model) ? chosen.filter((each) => each !== model) : [...chosen, model]);
  const onKey = (event: KeyboardEvent<HTMLElement>, model: string) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (event.key === ' ') {
      event.preventDefault();
      toggle(model);
    } else if (to !== undefined && to >= 0 && to < shown.length) {
      event.preventDefault();
      setActive(to);
      const option = event.currentTarget.parentElement?.children[to];
      if (option instanceof HTMLElement) option.focus();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      event.currentTarget.closest('form')?.requestSubmit();
    }
  };
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className="flex flex-wrap items-center justify-between gap-x-3">
        <span id={`${id}-label`} className="font-medium">
          {text.models}
        </span>
        <span className="flex items-center gap-1 text-xs text-muted">
          <span aria-live="polite">{text.chosen(chosen.length)}</span>
          {offered.length > 1 && (
            <Button
              variant="ghost"
              size="small"
              className="-mr-2 !text-accent"
              onClick={() => onChange(isAll ? [] : offered)}
            >
              {isAll ? text.none : text.all}
            </Button>
          )}
        </span>
      </div>
      {searches && (
        <Input
          ref={asFirst}
          type="search"
          aria-label={text.searchModels}
          placeholder={text.searchModels}
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            setActive(0);
          }}
          onKeyDown={(event) => {
            const [only] = found;
            if (event.key !== 'Enter' || event.nativeEvent.isComposing || wanted === '') return;
            event.preventDefault();
            if (only !== undefined && found.length === 1) toggle(only);
          }}
        />
      )}
      <div
        role="listbox"
        aria-multiselectable="true"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-hint`}
        aria-invalid={error !== undefined || undefined}
        className="max-h-52 overflow-y-auto rounded-md border border-line p-1 outline-none aria-invalid:border-danger"
      >
        {shown.map((model, index) => (
          <div
            key={model}
            ref={index === 0 && !searches ? asFirst : undefined}
            role="option"
            aria-selected={chosen.includes(model)}
            tabIndex={index === at ? 0 : -1}
            onKeyDown={(event) => onKey(event, model)}
            onClick={() => {
              setActive(index);
              toggle(model);
            }}
            className="flex min-h-8 cursor-pointer items-center gap-2 rounded px-2 py-1 hover:bg-raised"
          >
            <span
              aria-hidden="true"
              className={classes(
                'flex h-4 w-4 shrink-0 items-center justify-center rounded border',
                chosen.includes(model) ? 'border-accent bg-accent text-on-accent' : 'border-muted',
              )}
            >
              {chosen.includes(model) && <CheckIcon size={12} />}
            </span>
            <span className="min-w-0 font-mono text-xs break-all">{model}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="text-xs text-muted">{text.noSuchModel}</p>}
      {found.length > shown.length && (
        <p className="text-xs text-muted">{text.moreModels(found.length - shown.length)}</p>
      )}
      <p id={`${id}-hint`} className="text-xs text-muted">
        {text.modelsHint}
      </p>
      {error !== undefined && <p className="text-xs font-medium text-danger">{error}</p>}
    </div>
  );
}
