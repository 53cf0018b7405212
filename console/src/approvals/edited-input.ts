/** Changing the input of a call: as plain text where one field is what matters, else as JSON. */
import { textField } from '../cards/parse/tool-output.js';

type EditableField = 'command' | 'new_string' | 'content' | 'plan';

const FIELDS: Readonly<Record<string, EditableField>> = {
  Bash: 'command',
  Edit: 'new_string',
  Write: 'content',
  ExitPlanMode: 'plan',
};

/** Undefined where the input is edited as JSON. */
export function editableField(tool: string, input: unknown): EditableField | undefined {
  const field = Object.hasOwn(FIELDS, tool) ? FIELDS[tool] : undefined;
  return field !== undefined && textField(input, field) !== undefined ? field : undefined;
}

/** The text that is edited. */
export function editableText(input: unknown, field: EditableField | undefined): string {
  return field === undefined ? JSON.stringify(input, null, 2) : (textField(input, field) ?? '');
}

type Edited =
  | { kind: 'changed'; input: object }
  | { kind: 'same' }
  | { kind: 'not-json'; message: string }
  | { kind: 'not-object' };

export function editedInput(input: unknown, field: EditableField | undefined, text: string): Edited {
  if (field !== undefined) {
    if (text === textField(input, field)) return { kind: 'same' };
    return { kind: 'changed', input: { ...(isObject(input) ? input : {}), [field]: text } };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'not-json', message: error instanceof Error ? error.message : String(error) };
  }
  if (!isObject(value)) return { kind: 'not-object' };
  return JSON.stringify(value) === JSON.stringify(input)
    ? { kind: 'same' }
    : { kind: 'changed', input: value };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
