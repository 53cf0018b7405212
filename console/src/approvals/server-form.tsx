/** What an MCP server asks a person in the middle of a call: its form, or the address that it sends them to. */
import { useId, useState } from 'react';
import {
  type ServerForm as Asked,
  type FormEntry,
  isFilledIn,
  type ServerFormField,
  valuesOf,
} from '../cards/parse/server-form.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Input } from '../ui/input.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { ButtonRow } from './button-row.js';
import type { FormProps } from './deny-form.js';
import { ChoiceInput } from './rule-form.js';
import { serverFormStrings } from './server-form-strings.js';

export function ServerForm({ deciding, form }: Pick<FormProps, 'deciding'> & { form: Asked }) {
  const text = useText(serverFormStrings);
  const [entries, setEntries] = useState<ReadonlyMap<string, FormEntry>>(new Map());
  const entry = (field: ServerFormField): FormEntry => entries.get(field.name) ?? field.initial;
  const { detail } = deciding.approval.describe;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p className="text-xs text-muted">{text.from(makeVisible(form.server))}</p>
      {detail !== undefined && detail !== '' && (
        <p className="text-sm whitespace-pre-wrap wrap-anywhere">
          <VisibleText text={detail} />
        </p>
      )}
      {form.url !== undefined && <Page url={form.url} />}
      {form.fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          entry={entry(field)}
          onEntry={(value) => setEntries(new Map([...entries, [field.name, value]]))}
        />
      ))}
      <ButtonRow>
        {(guard) => (
          <>
            <Button
              variant="primary"
              busy={deciding.busy}
              disabled={!isFilledIn(form, entry)}
              onClick={guard(
                () =>
                  void deciding.send({
                    decision: 'allow',
                    updatedInput: { values: valuesOf(form, entry) },
                  }),
              )}
            >
              {form.url === undefined ? text.send : text.done}
            </Button>
            <Button disabled={deciding.busy} onClick={guard(() => void deciding.send({ decision: 'deny' }))}>
              {text.decline}
            </Button>
          </>
        )}
      </ButtonRow>
    </div>
  );
}

/** Text, no link: the person decides whether to go there, and by which way. */
function Page({ url }: { url: string }) {
  const text = useText(serverFormStrings);
  const host = URL.canParse(url) ? new URL(url).host : url;
  return (
    <div className="rounded-md border border-line bg-code px-3 py-2 text-sm">
      <p className="font-medium wrap-anywhere">{text.page(makeVisible(host))}</p>
      <p className="mt-1 font-mono text-xs wrap-anywhere">
        <VisibleText text={url} />
      </p>
    </div>
  );
}

interface FieldInputProps {
  field: ServerFormField;
  entry: FormEntry;
  onEntry: (entry: FormEntry) => void;
}

function FieldInput({ field, entry, onEntry }: FieldInputProps) {
  const text = useText(serverFormStrings);
  const { kind, required, description } = field;
  const label = (
    <>
      <VisibleText text={field.label} />
      {!required && <span className="ml-1 text-xs font-normal text-muted">{text.optional}</span>}
    </>
  );
  if (kind === 'boolean' || kind === 'choice' || kind === 'choices') {
    return <Choices field={field} entry={entry} onEntry={onEntry} label={label} />;
  }
  return (
    <Field label={label} {...(description === '' ? {} : { hint: <VisibleText text={description} /> })}>
      <Input
        type={kind === 'text' ? 'text' : 'number'}
        step={kind === 'integer' ? 1 : 'any'}
        value={String(entry)}
        onChange={(event) => onEntry(event.target.value)}
      />
    </Field>
  );
}

function Choices({ field, entry, onEntry, label }: FieldInputProps & { label: React.ReactNode }) {
  const text = useText(serverFormStrings);
  const name = useId();
  const { kind, options, description } = field;
  const chosen = (value: string): boolean =>
    kind === 'boolean' ? entry === true : Array.isArray(entry) ? entry.includes(value) : entry === value;
  const choose = (value: string, checked: boolean): void => {
    if (kind === 'boolean') onEntry(checked);
    else if (kind === 'choice') onEntry(value);
    else
      onEntry(options.map((each) => each.value).filter((each) => (each === value ? checked : chosen(each))));
  };
  const offered = kind === 'boolean' ? [{ value: 'yes', label: text.yes }] : options;
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium wrap-anywhere">{label}</legend>
      {description !== '' && (
        <p className="text-xs text-muted wrap-anywhere">
          <VisibleText text={description} />
        </p>
      )}
      {offered.map(({ value, label: shown }) => (
        <ChoiceInput
          key={value}
          name={name}
          multiple={kind !== 'choice'}
          checked={chosen(value)}
          onChoose={(checked) => choose(value, checked)}
        >
          <VisibleText text={shown} />
        </ChoiceInput>
      ))}
    </fieldset>
  );
}
