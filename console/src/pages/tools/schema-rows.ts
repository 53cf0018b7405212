/** A JSON Schema as a person reads it: names, types, and what each is for. */
export interface SchemaRow {
  path: string;
  depth: number;
  name: string;
  type: string;
  required: boolean;
  description: string | undefined;
  /** Allowed values, bounds and defaults, as the schema has them. */
  notes: readonly string[];
}

/** A schema of a stranger's server can be any size. */
const MOST_ROWS = 300;
const MOST_DEPTH = 6;
const NOTES = [
  'default',
  'const',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
];
const MOST_VALUES = 30;

type Fields = Record<string, unknown>;

export function schemaRows(schema: unknown): SchemaRow[] {
  const rows: SchemaRow[] = [];
  const visit = (value: unknown, path: string, depth: number): void => {
    const object = fields(value);
    const properties = fields(object?.['properties']);
    if (object === undefined || properties === undefined || depth > MOST_DEPTH) return;
    const required = Array.isArray(object['required']) ? object['required'] : [];
    for (const [name, property] of Object.entries(properties)) {
      if (rows.length >= MOST_ROWS) return;
      const described = fields(property) ?? {};
      const place = `${path}/${name}`;
      rows.push({
        path: place,
        depth,
        name,
        type: typeOf(described),
        required: required.includes(name),
        description: text(described['description']),
        notes: notesOf(described),
      });
      visit(property, place, depth + 1);
      visit(described['items'], `${place}[]`, depth + 1);
    }
  };
  visit(schema, '', 0);
  return rows;
}

function typeOf(schema: Fields): string {
  const type = schema['type'];
  if (type === 'array') {
    const items = fields(schema['items']);
    return items === undefined ? 'array' : `array<${typeOf(items)}>`;
  }
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string').join(' | ');
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const choices = schema[key];
    if (!Array.isArray(choices)) continue;
    const names = choices.slice(0, MOST_VALUES).map((each) => typeOf(fields(each) ?? {}));
    return [...new Set(names)].join(key === 'allOf' ? ' & ' : ' | ');
  }
  if (Array.isArray(schema['enum'])) return 'enum';
  return 'any';
}

function notesOf(schema: Fields): string[] {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : [];
  const shown = values.slice(0, MOST_VALUES).map((each) => JSON.stringify(each));
  const more = values.length > MOST_VALUES ? ['…'] : [];
  return [
    ...(values.length === 0 ? [] : [[...shown, ...more].join(' | ')]),
    ...NOTES.flatMap((key) => (schema[key] === undefined ? [] : [`${key}: ${JSON.stringify(schema[key])}`])),
  ];
}

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
