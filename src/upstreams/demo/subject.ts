/** "The weather in Paris and Rome" is two calls: the parameter that a list of values multiplies. */
import type { Ask, Candidate } from './ask.js';
import { candidatesFor } from './candidates.js';
import { type Parameter, type ParameterKind, parameterOf } from './parameters.js';
import { fits, propertiesOf, type Schema, typeOf, variantsOf } from './schema.js';

/** Kinds of which a list means as many calls. */
const LISTED: ReadonlySet<ParameterKind> = new Set([
  'expression',
  'url',
  'path',
  'folder',
  'place',
  'language',
  'person',
  'identifier',
  'email',
]);

/** How many calls the ask means: more than one where it lists several values of the tool's one subject. */
export function choicesOf(schema: Schema, ask: Ask, about: string): number {
  const [variant] = variantsOf(schema);
  if (variant === undefined) return 1;
  const parameters = propertiesOf(variant).map((property) => parameterOf(property, about));
  const subject = subjectOf(parameters, ask);
  return subject === undefined ? 1 : Math.max(1, listedValues(subject, ask).length);
}

/** The one parameter of which the ask gives several values. */
export function subjectOf(parameters: readonly Parameter[], ask: Ask): Parameter | undefined {
  return parameters.find((parameter) => {
    const [variant] = variantsOf(parameter.schema);
    if (variant === undefined || typeOf(variant) !== 'string' || !LISTED.has(parameter.kind)) return false;
    const rivals = parameters.filter((other) => other !== parameter && other.kind === parameter.kind);
    return rivals.length === 0 && listedValues(parameter, ask).length > 0;
  });
}

export function listedValues(parameter: Parameter, ask: Ask): Candidate[] {
  const seen = new Set<string>();
  return candidatesFor(parameter, ask, []).filter(({ text, start, sure, weak }) => {
    if (!sure || weak === true || start < 0 || seen.has(text)) return false;
    seen.add(text);
    return fits(text, parameter.schema);
  });
}
