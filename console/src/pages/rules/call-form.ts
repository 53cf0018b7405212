/** A call to try against the rules: fields by the tool's schema, and the input that they make. */
export interface CallField {
  name: string;
  kind: 'text' | 'lines' | 'number' | 'boolean' | 'choice' | 'json';
  required: boolean;
  description: string | undefined;
  choices: readonly string[];
}

/** Texts that are often longer than a line. */
const LONG = /^(command|content|new_string|old_string|code|prompt|text|script|new_source)$/;
/** What the rules do not look at is only in the way. */
const MOST_FIELDS = 12;

export function fieldsOf(schema: unknown): CallField[] {
  const object = record(schema);
  const properties = record(object?.['properties']) ?? {};
  const required = Array.isArray(object?.['required']) ? object['required'] : [];
  return Object.entries(properties)
    .map(([name, property]) => fieldOf(name, record(property) ?? {}, required.includes(name)))
    .toSorted((a, b) => Number(b.required) - Number(a.required))
    .slice(0, MOST_FIELDS);
}

function fieldOf(name: string, schema: Record<string, unknown>, required: boolean): CallField {
  const choices = Array.isArray(schema['enum'])
    ? schema['enum'].filter((each) => typeof each === 'string')
    : [];
  const type = schema['type'];
  const description = typeof schema['description'] === 'string' ? schema['description'] : undefined;
  const base = { name, required, description, choices };
  if (choices.length > 0) return { ...base, kind: 'choice' };
  if (type === 'boolean') return { ...base, kind: 'boolean' };
  if (type === 'number' || type === 'integer') return { ...base, kind: 'number' };
  if (type === 'string') return { ...base, kind: LONG.test(name) ? 'lines' : 'text' };
  return { ...base, kind: 'json' };
}

export type CallValues = Readonly<Record<string, string>>;

type CallInput = { ok: true; input: Record<string, unknown> } | { ok: false; field: string };

/** Fields that are empty are left out, but for those that the tool needs. */
export function inputOf(fields: readonly CallField[], values: CallValues): CallInput {
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    const value = values[field.name] ?? '';
    if (value === '' && !(field.required && (field.kind === 'text' || field.kind === 'lines'))) continue;
    const read = readValue(field, value);
    if (read === undefined) return { ok: false, field: field.name };
    input[field.name] = read.value;
  }
  return { ok: true, input };
}

function readValue({ kind }: CallField, text: string): { value: unknown } | undefined {
  switch (kind) {
    case 'number':
      return text.trim() === '' || Number.isNaN(Number(text)) ? undefined : { value: Number(text) };
    case 'boolean':
      return { value: text === 'true' };
    case 'json':
      return parseJson(text);
    default:
      return { value: text };
  }
}

export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
