/** Items that a request only names. */
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { referenceOf, responseOfItem } from '../../../dialects/openai-responses/index.js';

/** Answers that the references of one request may be taken from. */
const MAX_RESPONSES = 1000;

/** The items of an answer that is kept; undefined where there is none. */
type FindItems = (response: string) => Promise<readonly JsonObject[] | undefined>;

/**
 * `items` with what its references name; undefined where there is nothing to put in. `item_reference`
 * names an item of an earlier answer by its id, which the Vercel AI SDK sends from the second turn on.
 * What this gateway answered is known here alone, so it is put in its place before anything else reads
 * the request; what an upstream answered itself is left for that upstream.
 */
export async function resolveReferences(
  items: readonly unknown[],
  find: FindItems,
): Promise<unknown[] | undefined> {
  const wanted = referencesIn(items);
  if (wanted.size === 0) return undefined;
  const known = await itemsOfResponses(responsesOf(wanted), find);
  let resolved = false;
  const out = items.map((item) => {
    const id = referenceOf(item);
    const found = id === undefined ? undefined : known.get(id);
    if (found === undefined) return item;
    resolved = true;
    return found;
  });
  return resolved ? out : undefined;
}

/** Each once, as at OpenAI: one large item named a million times would be a request of any size. */
function referencesIn(items: readonly unknown[]): Set<string> {
  const ids = new Set<string>();
  for (const item of items) {
    const id = referenceOf(item);
    if (id === undefined) continue;
    if (ids.has(id)) {
      throw new GatewayError(
        'invalid_request',
        `Duplicate item found with id '${id.slice(0, 100)}'. Remove duplicate items from your input and try again.`,
        { param: 'input' },
      );
    }
    ids.add(id);
  }
  return ids;
}

function responsesOf(references: ReadonlySet<string>): Set<string> {
  const responses = new Set<string>();
  for (const id of references) {
    const response = responseOfItem(id);
    if (response !== undefined) responses.add(response);
  }
  if (responses.size > MAX_RESPONSES) {
    throw new GatewayError(
      'invalid_request',
      `input: the references name more than ${MAX_RESPONSES} answers. Begin a new conversation with the messages that matter.`,
      { param: 'input' },
    );
  }
  return responses;
}

/** By id. Items that an upstream named itself stand beside those whose names tell where they are from. */
async function itemsOfResponses(
  responses: Iterable<string>,
  find: FindItems,
): Promise<Map<string, JsonObject>> {
  const known = new Map<string, JsonObject>();
  for (const response of responses) {
    for (const item of (await find(response)) ?? []) {
      if (isObject(item) && typeof item['id'] === 'string') known.set(item['id'], item);
    }
  }
  return known;
}
