/** The JSON Schema that editors use, made from the schema that the gateway uses. */
import * as z from 'zod';
import { configSchema } from './schema.js';

const REFERENCE = '#/definitions/environmentReference';

type JsonSchema = z.core.JSONSchema.BaseSchema;

export function configJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema, path }) => {
      // The bound of every integer in JavaScript says nothing to a person.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (path.at(-1) !== 'propertyNames') allowReference(jsonSchema);
    },
  });
  const { $schema, ...rest } = schema;
  return {
    $schema: $schema ?? 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of Toolgate (toolgate.yaml)',
    ...rest,
    definitions: {
      environmentReference: {
        type: 'string',
        pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}',
        description: 'Takes the value of an environment variable.',
      },
    },
  };
}

/** `${PORT}` may stand wherever a scalar of another form does. */
function allowReference(schema: JsonSchema): void {
  const { type } = schema;
  const restricted =
    type === 'number' ||
    type === 'integer' ||
    type === 'boolean' ||
    (type === 'string' && (schema.enum !== undefined || schema.pattern !== undefined));
  if (!restricted) return;
  const { description, default: fallback, ...form } = schema;
  for (const key of Object.keys(schema)) Reflect.deleteProperty(schema, key);
  if (description !== undefined) schema.description = description;
  if (fallback !== undefined) schema.default = fallback;
  schema.anyOf = [form, { $ref: REFERENCE }];
}
