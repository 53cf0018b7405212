/** What a tool of a server says of itself, by which an approval of it is pinned. */
import * as z from 'zod';
import { digestOf } from '../store/json.js';

const MOST_FIELDS = 100;
const DESCRIPTION_CHARS = 1_000;
const SHOWN_CHARS = 200;
const SHOWN_FIELDS = 8;
const FIELD_CHARS = 60;

const summarySchema = z.object({
  title: z.string(),
  /** Its beginning. */
  description: z.string(),
  descriptionDigest: z.string(),
  /** Of the input, by name: what its schema is, as a digest. */
  fields: z.record(z.string(), z.string()),
  /** What the schema says beside its fields. */
  rest: z.string(),
});

export const definitionSchema = z.object({
  /** Over everything that the server says of it. */
  digest: z.string(),
  /** Small, whatever the server sends: enough to say what has changed. */
  summary: summarySchema,
});

export type ToolDefinition = z.output<typeof definitionSchema>;
type DefinitionSummary = z.output<typeof summarySchema>;

export interface DefinedTool {
  name: string;
  title?: string | undefined;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

export function defineTool({ name, title = '', description, inputSchema }: DefinedTool): ToolDefinition {
  const { properties, ...rest } = inputSchema;
  const fields = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  return {
    digest: digestOf([name, title, description, inputSchema]),
    summary: {
      title,
      description: description.slice(0, DESCRIPTION_CHARS),
      descriptionDigest: shortHash(description),
      fields: Object.fromEntries(
        fields
          .slice(0, MOST_FIELDS)
          .map(([field, schema]) => [field.slice(0, FIELD_CHARS), shortHash(schema)]),
      ),
      rest: shortHash(rest),
    },
  };
}

/** In words, for a person. `before` is what was stored, perhaps by another version. */
export function changesBetween(before: unknown, now: DefinitionSummary): string {
  const known = summarySchema.safeParse(before).data;
  if (known === undefined) return 'what it says of itself is not what it was';
  const had = Object.keys(known.fields);
  const has = Object.keys(now.fields);
  const found = [
    known.title !== now.title && `its title was ${quoted(known.title)} and is ${quoted(now.title)}`,
    known.descriptionDigest !== now.descriptionDigest && descriptions(known.description, now.description),
    listed(
      'new input',
      has.filter((field) => !had.includes(field)),
    ),
    listed(
      'removed input',
      had.filter((field) => !has.includes(field)),
    ),
    listed(
      'changed input',
      has.filter((field) => had.includes(field) && known.fields[field] !== now.fields[field]),
    ),
    known.rest !== now.rest && 'its schema says something else about the input as a whole',
  ].filter((each) => each !== false);
  return found.length === 0 ? 'its schema has changed' : found.join('; ');
}

/** From a little before where they begin to differ: a long text may have changed at its end. */
function descriptions(before: string, now: string): string {
  let at = 0;
  while (at < before.length && before[at] === now[at]) at += 1;
  if (at === before.length && at === now.length) return 'its description has changed near its end';
  const from = Math.max(0, at - SHOWN_CHARS / 4);
  const lead = from > 0 ? '…' : '';
  return `its description was ${quoted(lead + before.slice(from))} and is ${quoted(lead + now.slice(from))}`;
}

function listed(what: string, fields: readonly string[]): string | false {
  if (fields.length === 0) return false;
  const shown = fields.slice(0, SHOWN_FIELDS).map(quoted).join(', ');
  const more = fields.length > SHOWN_FIELDS ? ` and ${fields.length - SHOWN_FIELDS} more` : '';
  return `${what} ${shown}${more}`;
}

function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return JSON.stringify(line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line);
}

const shortHash = (value: unknown): string => digestOf([value]).slice(0, 16);
