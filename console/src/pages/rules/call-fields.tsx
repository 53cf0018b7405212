import { useState } from 'react';
import { useText } from '../../text/language.js';
import { Disclosure } from '../../ui/disclosure.js';
import { Field } from '../../ui/field.js';
import { Input } from '../../ui/input.js';
import { Select } from '../../ui/select.js';
import { TextArea } from '../../ui/text-area.js';
import type { CallField, CallValues } from './call-form.js';
import { strings } from './strings.js';

const DESCRIPTION_LENGTH = 140;

interface CallFieldsProps {
  fields: readonly CallField[];
  values: CallValues;
  /** The name of the field with an invalid value. */
  wrong: string | undefined;
  onChange: (name: string, value: string) => void;
}

/** Required fields come first; the others are folded. */
export function CallFields({ fields, values, wrong, onChange }: CallFieldsProps) {
  const text = useText(strings);
  const [open, setOpen] = useState(false);
  const needed = fields.filter(({ required }) => required);
  const first = needed.length === 0 ? fields : needed;
  const rest = fields.filter((field) => !first.includes(field));
  const draw = (field: CallField) => (
    <OneField
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      wrong={wrong === field.name}
      onChange={(value) => onChange(field.name, value)}
    />
  );
  return (
    <>
      {first.map(draw)}
      {rest.length > 0 && (
        <Disclosure
          summary={text.moreFields(rest.length)}
          open={open || rest.some(({ name }) => name === wrong)}
          onToggle={setOpen}
        >
          <div className="flex flex-col gap-3 pt-2 pl-5">{rest.map(draw)}</div>
        </Disclosure>
      )}
    </>
  );
}

function OneField({
  field,
  value,
  wrong,
  onChange,
}: {
  field: CallField;
  value: string;
  wrong: boolean;
  onChange: (value: string) => void;
}) {
  const text = useText(strings);
  const { name, kind, description = '' } = field;
  if (kind === 'choice' || kind === 'boolean') {
    const choices =
      kind === 'choice'
        ? field.choices.map((each) => ({ value: each, label: each }))
        : [
            { value: 'true', label: text.yes },
            { value: 'false', label: text.no },
          ];
    return (
      <Select
        label={name}
        value={value}
        className="self-start"
        options={[{ value: '', label: text.notSet }, ...choices]}
        onChange={onChange}
      />
    );
  }
  const short =
    description.length > DESCRIPTION_LENGTH ? `${description.slice(0, DESCRIPTION_LENGTH)}…` : description;
  return (
    <Field
      label={field.required ? `${name} *` : name}
      {...(short === '' ? {} : { hint: short })}
      error={wrong ? text.badField : undefined}
    >
      {kind === 'lines' || kind === 'json' ? (
        <TextArea
          value={value}
          rows={kind === 'lines' ? 2 : 3}
          spellCheck={false}
          className="font-mono !text-xs"
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Input
          value={value}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          autoComplete="off"
          spellCheck={false}
          className="font-mono !text-xs"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
