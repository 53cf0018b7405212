/** Answers in JSON: the smallest instance of the wanted schema, filled from the user's words and the results. */
import type { ConversationRequest, JsonObject, OutputFormat } from '../../core/conversation.js';
import { answerFromResults, answerWithoutTools, directArithmetic } from './answer.js';
import { type Ask, widened } from './ask.js';
import { fillArguments } from './fill-arguments.js';
import type { Situation } from './read-conversation.js';
import { plainText } from './results.js';
import { fits, isObject, isShallow, propertiesOf, schemaOf, smallest, typeOf, variantsOf } from './schema.js';
import { headline } from './topics.js';

export function structuredAnswer(
  format: OutputFormat,
  ask: Ask,
  situation: Situation,
  request: ConversationRequest,
): unknown {
  if (format.type === 'json_object') return freeObject(ask, situation, request);
  const schema = schemaOf(format.schema);
  const [variant = schema] = variantsOf(schema);
  if (typeOf(variant) !== 'object' && typeOf(variant) !== 'any') return smallest(schema);
  const about = `${format.name ?? ''}. ${format.description ?? ''}`;
  const { input } = fillArguments(schemaOf(format.schema), widened(ask), { about, pick: 0, computes: true });
  const value = { ...input, ...fromResults(format.schema, situation) };
  return fits(value, schemaOf(format.schema)) ? value : smallest(schemaOf(format.schema));
}

/** Fields that a result already holds under the same name. */
function fromResults(root: JsonObject, { exchanges }: Situation): JsonObject {
  const found: JsonObject = {};
  const schema = schemaOf(root);
  const [variant = schema] = variantsOf(schema);
  for (const { result } of exchanges) {
    const value = parsedObject(plainText(result));
    for (const { name, schema: own } of value === undefined ? [] : propertiesOf(variant)) {
      const field = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
      if (field !== undefined && isShallow(field) && fits(field, own)) found[name] = field;
    }
  }
  return found;
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Without a schema the prompt itself names the keys, as it must: `{"title": …}`. */
function freeObject(ask: Ask, situation: Situation, request: ConversationRequest): JsonObject {
  const prompt = `${situation.system.slice(-4_000)}\n${situation.words}`;
  const keys = [
    ...new Set([...prompt.matchAll(/["'`]([A-Za-z_]\w{0,40})["'`]\s*:/g)].map((match) => match[1] ?? '')),
  ];
  if (keys.length > 0) {
    const properties = Object.fromEntries(keys.slice(0, 20).map((key) => [key, schemaByName(key)]));
    const schema = schemaOf({ type: 'object', properties, required: Object.keys(properties) });
    return fillArguments(schema, widened(ask), { about: '', pick: 0, computes: true }).input;
  }
  const sum = directArithmetic(situation.words);
  if (sum !== undefined)
    return { expression: sum.text, result: Number.isFinite(sum.number) ? sum.number : null };
  if (situation.exchanges.length > 0) return { answer: answerFromResults(situation) };
  return { title: headline(situation.words), answer: answerWithoutTools(situation, request) };
}

function schemaByName(key: string): JsonObject {
  if (/^(?:is|has|should|can)[A-Z_]|^(?:ok|valid|success|enabled)$/.test(key)) return { type: 'boolean' };
  if (/count|total|number|score|amount|age|price|year/i.test(key)) return { type: 'number' };
  return { type: 'string' };
}
