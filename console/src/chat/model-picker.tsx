import { useId, useState } from 'react';
import type { ModelWire } from '../../../src/server/console-api/wire/sessions.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { Dialog } from '../ui/dialog.js';
import { EmptyState } from '../ui/empty-state.js';
import { ErrorNote } from '../ui/error-note.js';
import { Field } from '../ui/field.js';
import { formatTokens } from '../ui/format.js';
import { BotIcon, ChatIcon, CheckIcon, ChevronDownIcon } from '../ui/icons.js';
import { Input } from '../ui/input.js';
import { Skeleton } from '../ui/skeleton.js';
import { findModel, fits, type ModelList } from './models.js';
import { strings } from './strings.js';

interface ModelPickerProps {
  list: ModelList;
  reload: () => void;
  value: string | undefined;
  onChange: (model: string) => void;
}

/** A button that says which model is asked, and a dialog to choose another. */
export function ModelPicker({ list, reload, value, onChange }: ModelPickerProps) {
  const text = useText(strings);
  const [open, setOpen] = useState(false);
  const models = list.status === 'ready' ? list.models : [];
  const chosen = value === undefined ? undefined : findModel(models, value);
  const choose = (model: string): void => {
    onChange(model);
    setOpen(false);
  };
  return (
    <>
      <Button
        variant="ghost"
        size="small"
        className="min-h-9 max-w-full min-w-0"
        aria-haspopup="dialog"
        aria-label={`${text.model}: ${value ?? text.chooseModel}`}
        icon={isAgent(chosen) ? <BotIcon size={15} /> : <ChatIcon size={15} />}
        onClick={() => setOpen(true)}
      >
        <span className="min-w-0 truncate">{value ?? text.chooseModel}</span>
        <ChevronDownIcon size={14} className="shrink-0 text-muted" />
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={text.chooseModel}>
        {list.status === 'loading' && <Skeleton lines={4} />}
        {list.status === 'failed' && (
          <ErrorNote
            title={text.modelsFailed}
            message={list.message}
            action={
              <Button size="small" onClick={reload}>
                {text.tryAgain}
              </Button>
            }
          />
        )}
        {list.status === 'ready' && <Choices models={models} value={value} onChoose={choose} />}
      </Dialog>
    </>
  );
}

/** From so many on there is a field to search in. */
const MANY = 8;

function Choices({
  models,
  value,
  onChoose,
}: {
  models: readonly ModelWire[];
  value: string | undefined;
  onChoose: (model: string) => void;
}) {
  const text = useText(strings);
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = models.filter(
    ({ name, display_name, pattern }) =>
      !pattern && `${name} ${display_name ?? ''}`.toLowerCase().includes(wanted),
  );
  const agents = found.filter(isAgent);
  const plain = found.filter((model) => !isAgent(model));
  const patterns = models.filter(({ pattern }) => pattern);
  if (models.length === 0) return <EmptyState title={text.noModels} />;
  return (
    <div className="flex flex-col gap-4">
      {models.length > MANY && (
        <Input
          type="search"
          aria-label={text.searchModels}
          placeholder={text.searchModels}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            const [first] = found;
            if (event.key === 'Enter' && !event.nativeEvent.isComposing && first !== undefined)
              onChoose(first.name);
          }}
        />
      )}
      {found.length === 0 && patterns.length === 0 && <p className="text-muted">{text.noSuchModel}</p>}
      <Group title={text.agents} models={agents} value={value} onChoose={onChoose} />
      <Group title={text.models} models={plain} value={value} onChoose={onChoose} />
      {patterns.length > 0 && (
        <section className="flex flex-col gap-2">
          <h3 className="text-xs font-semibold text-muted">{text.patterns}</h3>
          {patterns.map((model) => (
            <PatternField key={model.name} model={model} models={models} value={value} onChoose={onChoose} />
          ))}
        </section>
      )}
    </div>
  );
}

function Group({
  title,
  models,
  value,
  onChoose,
}: {
  title: string;
  models: readonly ModelWire[];
  value: string | undefined;
  onChoose: (model: string) => void;
}) {
  const id = useId();
  if (models.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h3 id={id} className="mb-1 text-xs font-semibold text-muted">
        {title}
      </h3>
      <ul className="flex flex-col">
        {models.map((model) => (
          <li key={model.name}>
            <button
              type="button"
              aria-pressed={model.name === value}
              onClick={() => onChoose(model.name)}
              className={classes(
                'flex w-full min-w-0 items-start gap-2 rounded-md px-2 py-2 text-left hover:bg-raised',
                model.name === value && 'bg-raised',
              )}
            >
              <span className="mt-0.5 w-4 shrink-0 text-accent">{model.name === value && <CheckIcon />}</span>
              <span className="min-w-0 flex-1">
                <span className="block font-medium break-words">{model.name}</span>
                <Facts model={model} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ model }: { model: ModelWire }) {
  const text = useText(strings);
  const facts = [
    model.display_name,
    model.root ?? model.upstreams.join(', '),
    model.context_window === null ? null : text.context(formatTokens(model.context_window)),
  ].filter((fact) => fact !== null && fact !== '');
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
      {isAgent(model) && (
        <Badge tone="info">{model.engine === 'claude-code' ? text.claudeCode : text.agent}</Badge>
      )}
      {facts.map((fact) => (
        <span key={fact} className="min-w-0 break-all">
          {fact}
        </span>
      ))}
    </span>
  );
}

function PatternField({
  model,
  models,
  value,
  onChoose,
}: {
  model: ModelWire;
  models: readonly ModelWire[];
  value: string | undefined;
  onChoose: (model: string) => void;
}) {
  const text = useText(strings);
  const mine = value !== undefined && findModel(models, value) === model;
  const [name, setName] = useState(mine ? value : model.name.replace(/\*.*$/, ''));
  const [tried, setTried] = useState(false);
  const complete = fits(model.name, name.trim());
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (complete) onChoose(name.trim());
      }}
    >
      <div className="min-w-0 flex-1">
        <Field
          label={text.modelNameHint(model.name)}
          error={tried && !complete ? text.modelNameError(model.name) : undefined}
        >
          <Input
            value={name}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder={model.name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <Facts model={model} />
      </div>
      <Button type="submit" className="mb-5">
        {text.use}
      </Button>
    </form>
  );
}

function isAgent(model: Pick<ModelWire, 'engine'> | undefined): boolean {
  return model !== undefined && model.engine !== 'relay';
}
