/** Language and colours: one of a few, all in sight. */
import { useId } from 'react';
import { type Language, setLanguage, useLanguage, useText } from '../text/language.js';
import { classes } from '../ui/classes.js';
import { strings } from './strings.js';
import { setTheme, THEMES, useTheme } from './theme.js';

interface ChoiceProps<V extends string> {
  label: string;
  value: V;
  options: readonly { value: V; label: string; lang?: string }[];
  onChange: (value: V) => void;
}

function Choice<V extends string>({ label, value, options, onChange }: ChoiceProps<V>) {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs font-medium text-muted">{label}</legend>
      <div className="inline-flex rounded-md border border-line bg-surface p-0.5">
        {options.map((option) => (
          <label
            key={option.value}
            lang={option.lang}
            className={classes(
              'cursor-pointer rounded px-2.5 py-1 text-xs font-medium has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-accent',
              option.value === value ? 'bg-accent text-on-accent' : 'text-ink hover:bg-raised',
            )}
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              className="sr-only"
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const LANGUAGES: readonly { value: Language; label: string; lang: string }[] = [
  { value: 'en', label: 'English', lang: 'en' },
  { value: 'zh', label: '中文', lang: 'zh-CN' },
];

export function LanguageChoice() {
  const text = useText(strings);
  return <Choice label={text.language} value={useLanguage()} options={LANGUAGES} onChange={setLanguage} />;
}

export function ThemeChoice() {
  const text = useText(strings);
  return (
    <Choice
      label={text.theme}
      value={useTheme()}
      options={THEMES.map((value) => ({ value, label: text.themes[value] }))}
      onChange={setTheme}
    />
  );
}
