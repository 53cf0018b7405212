/** How much a new key may use; folded, since most keys have no limits. */
import { useText } from '../../text/language.js';
import { Disclosure } from '../../ui/disclosure.js';
import { Field } from '../../ui/field.js';
import { Input } from '../../ui/input.js';
import { Select } from '../../ui/select.js';
import { TextArea } from '../../ui/text-area.js';
import { COUNTS, type KeyField, type KeyForm, PERIODS } from './key-form.js';
import { strings } from './strings.js';

interface KeyLimitsProps {
  form: KeyForm;
  said: Partial<Record<KeyField, string>>;
  open: boolean;
  onToggle: (open: boolean) => void;
  set: (change: Partial<KeyForm>) => void;
}

export function KeyLimits({ form, said, open, onToggle, set }: KeyLimitsProps) {
  const text = useText(strings);
  return (
    <Disclosure summary={text.limits} open={open} onToggle={onToggle}>
      <div className="flex flex-col gap-4 pt-2 pl-5">
        <p className="text-xs text-muted">{text.limitsHint}</p>
        <div className="flex flex-wrap items-start gap-3">
          <div className="w-40">
            <Field label={text.budget} error={said.budget}>
              <Input
                value={form.budget}
                inputMode="decimal"
                autoComplete="off"
                onChange={(event) => set({ budget: event.target.value })}
              />
            </Field>
          </div>
          <Select
            label={text.per}
            value={form.per}
            options={PERIODS.map((value) => ({ value, label: text.periods[value] }))}
            onChange={(per) => set({ per })}
          />
        </div>
        <div className="grid gap-4 sm:grid-cols-2">
          {COUNTS.map((field) => (
            <Field key={field} label={text.counts[field]} error={said[field]}>
              <Input
                value={form[field]}
                inputMode="numeric"
                autoComplete="off"
                onChange={(event) => set({ [field]: event.target.value })}
              />
            </Field>
          ))}
        </div>
        <Field label={text.workspaces} hint={text.workspacesHint} error={said.workspaces}>
          <TextArea
            rows={2}
            value={form.workspaces}
            spellCheck={false}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => set({ workspaces: event.target.value })}
          />
        </Field>
      </div>
    </Disclosure>
  );
}
