/** The JSON Schema that editors use, made from the schema that the gateway uses. */
import * as z from 'zod';
import { configSchema } from './schema.js';

const REFERENCE = '#/definitions/environmentReference';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const TEXTS = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** It is taken apart before the configuration is checked, so that the schema does not know it. */
const COMMON_FORM: JsonSchema = {
  description: 'MCP servers in the form that other programs have; the same as mcp_servers.',
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: {
      type: { type: 'string', description: 'stdio, http or sse; known from command or url.' },
      command: { type: 'string', description: 'The program.' },
      args: { type: 'array', items: { type: 'string' }, description: 'Its arguments.' },
      env: { ...TEXTS, description: 'Environment variables that it gets.' },
      url: { type: 'string', description: 'Address of the endpoint.' },
      headers: { ...TEXTS, description: 'Headers on every request to it.' },
      disabled: { type: 'boolean', description: 'true: the entry is left out.' },
    },
  },
};

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
    properties: { ...rest.properties, mcpServers: COMMON_FORM },
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
