/** A form that a person fills in while a call waits, and what they may put into it. */

export interface Form {
  /** Who asks, as it is called in the configuration. */
  server: string;
  fields: readonly FormField[];
  /** The person is sent elsewhere instead: the address is shown, and nothing opens it by itself. */
  url?: string;
}

export interface FormField {
  name: string;
  label: string;
  description: string;
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  required: boolean;
  /** Of choices. */
  options: readonly { value: string; label: string }[];
  /** Length of a text, size of a number, count of choices. */
  least?: number;
  most?: number;
  /** Of a text: `email`, `uri`, `date` or `date-time`. */
  format?: string;
  initial?: FormValue;
}

export type FormValue = string | number | boolean | readonly string[];
type FormValues = Readonly<Record<string, FormValue>>;

export type FormAnswer =
  | { action: 'accept'; values: FormValues }
  | { action: 'decline' }
  /** Nobody answered, or nobody could. */
  | { action: 'cancel'; why: string };

/** The longest text that a person may give. */
const TEXT_CHARS = 10_000;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
};

/** What was filled in, field by field; or the first problem as a sentence. */
export function readValues(form: Form, given: unknown): { values: FormValues } | { problem: string } {
  const all = typeof given === 'object' && given !== null ? new Map(Object.entries(given)) : new Map();
  const stray = [...all.keys()].find((name) => !form.fields.some((field) => field.name === name));
  if (stray !== undefined) return { problem: `The form has no field ${JSON.stringify(stray)}.` };
  const values: [string, FormValue][] = [];
  for (const field of form.fields) {
    const value: unknown = all.get(field.name);
    if (value === undefined || value === null || (value === '' && !field.required)) {
      if (field.required) return { problem: `${field.label}: expected an answer.` };
      continue;
    }
    const problem = problemOf(field, value);
    if (problem !== undefined) return { problem: `${field.label}: ${problem}.` };
    if (isValue(value)) values.push([field.name, value]);
  }
  return { values: Object.fromEntries(values) };
}

const isValue = (value: unknown): value is FormValue =>
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every((each) => typeof each === 'string'));

function problemOf(field: FormField, value: unknown): string | undefined {
  const { kind, options, least = 0, most = Number.POSITIVE_INFINITY, format } = field;
  const offered = (each: unknown): boolean => options.some((option) => option.value === each);
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'expected true or false';
    case 'choice':
      return offered(value) ? undefined : 'expected one of the choices';
    case 'choices':
      if (!Array.isArray(value) || !value.every(offered)) return 'expected some of the choices';
      return value.length < least || value.length > most ? 'expected another number of choices' : undefined;
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'expected a number';
      if (kind === 'integer' && !Number.isInteger(value)) return 'expected a whole number';
      if (value < (field.least ?? Number.NEGATIVE_INFINITY)) return `expected at least ${least}`;
      return value > most ? `expected at most ${most}` : undefined;
    case 'text':
      if (typeof value !== 'string') return 'expected a text';
      if (value.length < least) return `expected at least ${least} characters`;
      if (value.length > Math.min(most, TEXT_CHARS)) {
        return `expected at most ${Math.min(most, TEXT_CHARS)} characters`;
      }
      return format === undefined || FORMATS[format]?.(value) !== false ? undefined : `expected a ${format}`;
  }
}
