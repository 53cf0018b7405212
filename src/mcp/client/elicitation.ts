/** What a server asks a person in the middle of a call, as a form; bounded, whatever the server sends. */
import * as z from 'zod';
import type { Form, FormAnswer, FormField, FormValue } from '../../permissions/form.js';

/** What a person is asked, in the words of the server. */
export interface McpQuestion {
  message: string;
  form: Form;
}

const LIMITS = {
  fields: 30,
  options: 100,
  name: 100,
  label: 200,
  description: 500,
  message: 2_000,
  url: 2_000,
};

const option = z.looseObject({
  const: z.string().max(LIMITS.label),
  title: z.string().optional().catch(undefined),
});
const options = z.array(option).min(1).max(LIMITS.options);
const names = z.array(z.string().max(LIMITS.label)).min(1).max(LIMITS.options);

const common = {
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
};
const number = z.number().optional().catch(undefined);

const fieldSchema = z.union([
  z.looseObject({ ...common, type: z.literal('string'), oneOf: options, default: z.string().optional() }),
  z.looseObject({
    ...common,
    type: z.literal('string'),
    enum: names,
    enumNames: z.array(z.string()).optional().catch(undefined),
    default: z.string().optional(),
  }),
  z.looseObject({
    ...common,
    type: z.literal('array'),
    items: z.union([z.looseObject({ anyOf: options }), z.looseObject({ enum: names })]),
    minItems: number,
    maxItems: number,
    default: z.array(z.string()).optional(),
  }),
  z.looseObject({
    ...common,
    type: z.literal('string'),
    minLength: number,
    maxLength: number,
    format: z.string().optional().catch(undefined),
    default: z.string().optional(),
  }),
  z.looseObject({
    ...common,
    type: z.enum(['number', 'integer']),
    minimum: number,
    maximum: number,
    default: z.number().optional(),
  }),
  z.looseObject({ ...common, type: z.literal('boolean'), default: z.boolean().optional() }),
]);

const paramsSchema = z.union([
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string().max(LIMITS.url) }),
  z.looseObject({
    mode: z.literal('form').optional(),
    message: z.string(),
    requestedSchema: z.looseObject({
      properties: z.record(z.string(), z.unknown()),
      required: z.array(z.string()).optional().catch(undefined),
    }),
  }),
]);

/** `problem` where no person can be asked this. */
export function readElicitation(server: string, params: unknown): McpQuestion | { problem: string } {
  const parsed = paramsSchema.safeParse(params).data;
  if (parsed === undefined) return { problem: 'it asks for something that is not understood' };
  const message = cut(parsed.message, LIMITS.message);
  if ('url' in parsed && typeof parsed.url === 'string') return readUrl(server, message, parsed.url);
  if (!('requestedSchema' in parsed)) return { problem: 'it asks for something that is not understood' };
  const { properties, required = [] } = z
    .looseObject({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()).optional() })
    .parse(parsed.requestedSchema);
  const entries = Object.entries(properties);
  if (entries.length > LIMITS.fields) {
    return {
      problem: `it asks for ${entries.length} fields, more than the ${LIMITS.fields} that a person is shown`,
    };
  }
  const fields: FormField[] = [];
  for (const [name, schema] of entries) {
    const field = name.length > LIMITS.name ? undefined : readField(name, schema, required.includes(name));
    if (field === undefined)
      return { problem: `its field ${JSON.stringify(cut(name, LIMITS.name))} is not understood` };
    fields.push(field);
  }
  return { message, form: { server, fields } };
}

function readUrl(server: string, message: string, url: string): McpQuestion | { problem: string } {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.protocol !== 'https:' && address?.protocol !== 'http:') {
    return { problem: 'it sends the person to something that is no web address' };
  }
  if (address.username !== '' || address.password !== '') {
    return { problem: 'it sends the person to an address with a credential in it' };
  }
  return { message, form: { server, fields: [], url: address.href } };
}

function readField(name: string, schema: unknown, required: boolean): FormField | undefined {
  const field = fieldSchema.safeParse(schema).data;
  if (field === undefined) return undefined;
  const base = {
    name,
    label: cut(field.title ?? name, LIMITS.label),
    description: cut(field.description ?? '', LIMITS.description),
    required,
    ...(field.default === undefined ? {} : { initial: field.default satisfies FormValue }),
  };
  const bounds = (least: number | undefined, most: number | undefined) => ({
    ...(least === undefined ? {} : { least }),
    ...(most === undefined ? {} : { most }),
  });
  switch (field.type) {
    case 'boolean':
      return { ...base, kind: 'boolean', options: [] };
    case 'number':
    case 'integer':
      return { ...base, kind: field.type, options: [], ...bounds(field.minimum, field.maximum) };
    case 'array': {
      const offered = 'anyOf' in field.items ? field.items.anyOf : field.items.enum;
      return {
        ...base,
        kind: 'choices',
        options: readOptions(offered),
        ...bounds(field.minItems, field.maxItems),
      };
    }
    case 'string': {
      if ('oneOf' in field) return { ...base, kind: 'choice', options: readOptions(field.oneOf) };
      if ('enum' in field)
        return { ...base, kind: 'choice', options: readOptions(field.enum, field.enumNames) };
      const { minLength, maxLength, format } = field;
      return {
        ...base,
        kind: 'text',
        options: [],
        ...bounds(minLength, maxLength),
        ...(format === undefined ? {} : { format }),
      };
    }
  }
}

const offeredSchema = z.union([options, names]);

function readOptions(given: unknown, labels: unknown = []): FormField['options'] {
  const shown = z.array(z.string()).safeParse(labels).data ?? [];
  return (offeredSchema.safeParse(given).data ?? []).map((each, index) =>
    typeof each === 'string'
      ? { value: each, label: cut(shown[index] ?? each, LIMITS.label) }
      : { value: each.const, label: cut(each.title ?? each.const, LIMITS.label) },
  );
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`);

/** The answer on the wire. */
export type ElicitResult =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

export function encodeAnswer(answer: FormAnswer, { url }: Form): ElicitResult {
  if (answer.action !== 'accept') return { action: answer.action };
  if (url !== undefined) return { action: 'accept' };
  const content = Object.entries(answer.values).map(
    ([name, value]) => [name, typeof value === 'object' ? [...value] : value] as const,
  );
  return { action: 'accept', content: Object.fromEntries(content) };
}
