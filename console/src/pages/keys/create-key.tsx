/** A new key: what it may do, and then its secret, once. */
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import type { NewKeyWire } from '../../../../src/server/console-api/wire/keys.js';
import { ApiError, post } from '../../data/api.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Field } from '../../ui/field.js';
import { Input } from '../../ui/input.js';
import { Select } from '../../ui/select.js';
import { Toggle } from '../../ui/toggle.js';
import {
  bodyOf,
  checkKey,
  EMPTY,
  ENDS,
  fieldOf,
  type KeyField,
  type KeyForm,
  LIMITS,
  SCOPES,
} from './key-form.js';
import { KeyLimits } from './key-limits.js';
import { strings } from './strings.js';

interface CreateKeyProps {
  open: boolean;
  onClose: () => void;
  onMade: (made: NewKeyWire) => void;
}

export function CreateKey({ open, onClose, onMade }: CreateKeyProps) {
  const text = useText(strings);
  const id = useId();
  const [form, setForm] = useState<KeyForm>(EMPTY);
  const [busy, setBusy] = useState(false);
  const [unfolded, setUnfolded] = useState(false);
  const [said, setSaid] = useState<Partial<Record<KeyField, string>>>({});
  const [problem, setProblem] = useState<string>();
  const [refused, setRefused] = useState(0);
  const first = useRef<HTMLInputElement>(null);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refused === 0) return;
    const wrong = element.current?.querySelector('[aria-invalid=true]');
    if (wrong instanceof HTMLElement) wrong.focus();
  }, [refused]);
  const set = (change: Partial<KeyForm>) => {
    setForm({ ...form, ...change });
    setSaid({});
    setProblem(undefined);
  };
  const refuse = (problems: Partial<Record<KeyField, string>>) => {
    setSaid(problems);
    // It stays open while somebody corrects what is wrong in it.
    if (LIMITS.some((field) => problems[field] !== undefined)) setUnfolded(true);
    setRefused((count) => count + 1);
  };
  const failed = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const param = error instanceof ApiError ? error.param : null;
    const field = fieldOf(param);
    if (field === undefined) setProblem(message);
    else refuse({ [field]: atField(message, param) });
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setProblem(undefined);
    const problems = Object.entries(checkKey(form)).map(([field, which]) => [field, text.problems[which]]);
    if (problems.length > 0) {
      refuse(Object.fromEntries(problems));
      return;
    }
    setSaid({});
    setBusy(true);
    try {
      const made = await post<NewKeyWire>('/api/keys', bodyOf(form));
      setForm(EMPTY);
      setUnfolded(false);
      onMade(made);
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.add}
      initialFocus={first}
      actions={
        <Button variant="primary" type="submit" form={id} busy={busy}>
          {text.create}
        </Button>
      }
    >
      <form ref={element} id={id} noValidate onSubmit={submit} className="flex flex-col gap-4">
        <Field label={text.name} hint={text.nameHint} error={said.name}>
          <Input
            ref={first}
            value={form.name}
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
            onChange={(event) => set({ name: event.target.value })}
          />
        </Field>
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-sm font-medium">{text.scopes}</legend>
          {SCOPES.map((scope) => (
            <Toggle
              key={scope}
              label={text.scopeNames[scope]}
              checked={form.scopes.includes(scope)}
              onChange={(on) =>
                set({ scopes: SCOPES.filter((each) => (each === scope ? on : form.scopes.includes(each))) })
              }
            />
          ))}
          {said.scopes !== undefined && (
            <p role="alert" className="text-xs font-medium text-danger">
              {said.scopes}
            </p>
          )}
        </fieldset>
        <Field label={text.models} hint={text.modelsHint} error={said.models}>
          <Input
            value={form.models}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => set({ models: event.target.value })}
          />
        </Field>
        <Field label={text.team} error={said.team}>
          <Input
            value={form.team}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set({ team: event.target.value })}
          />
        </Field>
        <Select
          label={text.ends}
          value={form.ends}
          options={ENDS.map((value) => ({ value, label: text.endNames[value] }))}
          onChange={(ends) => set({ ends })}
        />
        <KeyLimits form={form} said={said} open={unfolded} onToggle={setUnfolded} set={set} />
        {problem !== undefined && <ErrorNote message={problem} />}
      </form>
    </Dialog>
  );
}

/** `param: sentence.`, as it stands at its field. */
function atField(message: string, param: string | null): string {
  const bare = param !== null && message.startsWith(`${param}: `) ? message.slice(param.length + 2) : message;
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

/** It is forgotten when this closes. */
export function ShowSecret({ made, onClose }: { made: NewKeyWire | undefined; onClose: () => void }) {
  const text = useText(strings);
  return (
    <Dialog
      open={made !== undefined}
      onClose={onClose}
      title={text.madeTitle(made?.name ?? '')}
      actions={
        <Button variant="primary" onClick={onClose}>
          {text.done}
        </Button>
      }
    >
      <p className="mb-3 font-medium">{text.madeText}</p>
      <div className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-raised px-3 py-2">
        <code className="min-w-0 flex-1 font-mono text-sm break-all" title={text.secret}>
          {made?.secret}
        </code>
        <CopyButton text={made?.secret ?? ''} label={text.copySecret} />
      </div>
      <ul className="mt-3 flex flex-col gap-1 text-sm text-muted">
        {made?.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </Dialog>
  );
}
