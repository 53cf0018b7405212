/** A new key: what it may do, and then its secret, once. */
import { type FormEvent, useId, useState } from 'react';
import type { NewKeyWire } from '../../../../src/server/console-api/wire/keys.js';
import { post } from '../../data/api.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Field } from '../../ui/field.js';
import { Input } from '../../ui/input.js';
import { Select } from '../../ui/select.js';
import { Toggle } from '../../ui/toggle.js';
import { strings } from './strings.js';

const SCOPES = ['call', 'approve', 'admin'] as const;
const ENDS = ['never', '30', '90', '365'] as const;
const DAY_MS = 86_400_000;

interface KeyForm {
  name: string;
  scopes: readonly (typeof SCOPES)[number][];
  models: string;
  team: string;
  rpm: string;
  ends: (typeof ENDS)[number];
}

const EMPTY: KeyForm = { name: '', scopes: ['call'], models: '*', team: '', rpm: '', ends: 'never' };

/** What the gateway checks: it says what is wrong with a field. */
function bodyOf({ name, scopes, models, team, rpm, ends }: KeyForm): object {
  return {
    name: name.trim(),
    scopes,
    models: models
      .split(',')
      .map((model) => model.trim())
      .filter((model) => model !== ''),
    ...(team.trim() === '' ? {} : { team: team.trim() }),
    ...(rpm.trim() === '' ? {} : { rpm: Number(rpm) }),
    ...(ends === 'never' ? {} : { expires_at: new Date(Date.now() + Number(ends) * DAY_MS).toISOString() }),
  };
}

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
  const [problem, setProblem] = useState<string>();
  const set = (change: Partial<KeyForm>) => {
    setForm({ ...form, ...change });
    setProblem(undefined);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const made = await post<NewKeyWire>('/api/keys', bodyOf(form));
      setForm(EMPTY);
      onMade(made);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.add}
      actions={
        <Button variant="primary" type="submit" form={id} busy={busy}>
          {text.create}
        </Button>
      }
    >
      <form id={id} noValidate onSubmit={submit} className="flex flex-col gap-4">
        <Field label={text.name} hint={text.nameHint}>
          <Input
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
        </fieldset>
        <Field label={text.models} hint={text.modelsHint}>
          <Input
            value={form.models}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => set({ models: event.target.value })}
          />
        </Field>
        <Field label={text.team}>
          <Input
            value={form.team}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set({ team: event.target.value })}
          />
        </Field>
        <Field label={text.rpm}>
          <Input
            value={form.rpm}
            inputMode="numeric"
            autoComplete="off"
            className="max-w-32"
            onChange={(event) => set({ rpm: event.target.value })}
          />
        </Field>
        <Select
          label={text.ends}
          value={form.ends}
          options={ENDS.map((value) => ({ value, label: text.endNames[value] }))}
          onChange={(ends) => set({ ends })}
        />
        {problem !== undefined && <ErrorNote message={problem} />}
      </form>
    </Dialog>
  );
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
