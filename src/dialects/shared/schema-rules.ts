/** Which parts of JSON Schema an upstream refuses, a row for each profile. */
import type { JsonObject } from '../../core/conversation.js';

export type SchemaProfile = 'full' | 'openai' | 'gemini' | 'mistral';

export interface SchemaRules {
  /** Keywords the upstream answers with a 400. */
  drop: ReadonlySet<string>;
  /** Values of `format` that may stay; others are taken out. */
  formats?: ReadonlySet<string>;
  /** What an array without `items` gets. */
  items?: JsonObject;
  /** `true` and `false` in the place of a schema become objects. */
  noBooleans?: boolean;
  /** `anyOf` and its like may not stand at the root. */
  flatRoot?: boolean;
  /** The dialect of JSON Schema that Gemini reads: one type, `nullable`, no references. */
  openApi?: boolean;
}

const OPENAI_FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

export const SCHEMA_RULES: Readonly<Record<Exclude<SchemaProfile, 'full'>, SchemaRules>> = {
  openai: {
    drop: new Set(),
    formats: new Set(OPENAI_FORMATS),
    items: {},
    noBooleans: true,
    flatRoot: true,
  },
  mistral: { drop: new Set(['$schema', '$id', 'additionalProperties']) },
  gemini: {
    drop: new Set([
      '$schema',
      '$id',
      '$anchor',
      '$comment',
      '$defs',
      '$dynamicAnchor',
      '$dynamicRef',
      '$ref',
      '$vocabulary',
      'additionalItems',
      'additionalProperties',
      'contains',
      'contentEncoding',
      'contentMediaType',
      'contentSchema',
      'default',
      'definitions',
      'dependencies',
      'dependentRequired',
      'dependentSchemas',
      'deprecated',
      'else',
      'examples',
      'exclusiveMaximum',
      'exclusiveMinimum',
      'if',
      'maxContains',
      'minContains',
      'multipleOf',
      'not',
      'patternProperties',
      'prefixItems',
      'propertyNames',
      'readOnly',
      'then',
      'unevaluatedItems',
      'unevaluatedProperties',
      'uniqueItems',
      'writeOnly',
    ]),
    formats: new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64']),
    items: { type: 'string' },
    noBooleans: true,
    flatRoot: true,
    openApi: true,
  },
};

/** Annotations whose absence changes nothing for a caller: not worth a loss. */
export const SILENT_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  '$ref',
  'definitions',
  'examples',
  'readOnly',
  'writeOnly',
  'deprecated',
]);
