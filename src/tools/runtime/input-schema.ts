/** The JSON Schema of a tool's input, as models are given it. */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import type { Tool } from './tool.js';

const made = new WeakMap<object, JsonObject>();

/** Throws where a schema cannot be written as JSON Schema: a bug of the tool. */
export function inputSchemaOf(tool: Tool): JsonObject {
  if (tool.inputJSONSchema !== undefined) return tool.inputJSONSchema;
  if (tool.inputSchema === undefined) return { type: 'object', properties: {} };
  let schema = made.get(tool.inputSchema);
  if (schema === undefined) {
    schema = toJsonSchema(tool.inputSchema);
    made.set(tool.inputSchema, schema);
  }
  return schema;
}

/** What a caller may send: fields with a default are optional. */
export function toJsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The bounds that zod gives every integer say nothing to a model.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest;
}
