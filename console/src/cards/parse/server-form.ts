/** The form that an MCP server wants to have filled in, and what goes back of it. */
import { fieldOf, textField } from './tool-output.js';

export type FormEntry = string | boolean | readonly string[];

export interface ServerFormField {
  name: string;
  label: string;
  description: string;
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  required: boolean;
  options: { value: string; label: string }[];
  initial: FormEntry;
}

export interface ServerForm {
  server: string;
  fields: ServerFormField[];
  /** Where the person is sent instead. */
  url: string | undefined;
}

const KINDS = ['text', 'number', 'integer', 'boolean', 'choice', 'choices'] as const;

/** Undefined where a card has none. */
export function serverFormOf(describe: unknown): ServerForm | undefined {
  const form = fieldOf(describe, 'form');
  const fields = fieldOf(form, 'fields');
  if (!Array.isArray(fields)) return undefined;
  return {
    server: textField(form, 'server') ?? '',
    url: textField(form, 'url'),
    fields: fields.flatMap((each: unknown): ServerFormField[] => {
      const name = textField(each, 'name');
      const kind = KINDS.find((known) => known === textField(each, 'kind'));
      if (name === undefined || kind === undefined) return [];
      const options = fieldOf(each, 'options');
      return [
        {
          name,
          kind,
          label: textField(each, 'label') ?? name,
          description: textField(each, 'description') ?? '',
          required: fieldOf(each, 'required') === true,
          options: (Array.isArray(options) ? options : []).flatMap((option: unknown) => {
            const value = textField(option, 'value');
            return value === undefined ? [] : [{ value, label: textField(option, 'label') ?? value }];
          }),
          initial: initialOf(kind, fieldOf(each, 'initial')),
        },
      ];
    }),
  };
}

function initialOf(kind: ServerFormField['kind'], initial: unknown): FormEntry {
  if (kind === 'boolean') return initial === true;
  if (kind === 'choices') {
    return Array.isArray(initial) ? initial.filter((each): each is string => typeof each === 'string') : [];
  }
  return typeof initial === 'string' || typeof initial === 'number' ? String(initial) : '';
}

/** Whether something is missing that the server needs. */
export const isFilledIn = (form: ServerForm, entry: (field: ServerFormField) => FormEntry): boolean =>
  form.fields.every((field) => !field.required || entry(field) !== '');

/** The gateway checks it once more, by the server's own schema. */
export function valuesOf(
  form: ServerForm,
  entry: (field: ServerFormField) => FormEntry,
): Record<string, string | number | boolean | readonly string[]> {
  return Object.fromEntries(
    form.fields.flatMap((field) => {
      const value = entry(field);
      if (value === '' || (Array.isArray(value) && value.length === 0 && !field.required)) return [];
      const isNumber = field.kind === 'number' || field.kind === 'integer';
      return [[field.name, isNumber ? Number(value) : value]];
    }),
  );
}
