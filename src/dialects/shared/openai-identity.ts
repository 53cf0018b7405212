/** Who asks, and what OpenAI's two wires say alike about where it is answered. */
import { createHash } from 'node:crypto';
import type { ConversationRequest, JsonObject } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { endUser } from './end-user-field.js';
import type { Quirks } from './quirks.js';

/** `prompt_cache_key` is cut off silently beyond this. */
const CACHE_KEY_LIMIT = 64;

/** Tiers by what Anthropic calls them. */
const SERVICE_TIERS: ReadonlyMap<string, string> = new Map([
  ['standard_only', 'default'],
  ['standard', 'default'],
  ['auto', 'auto'],
  ['default', 'default'],
  ['flex', 'flex'],
  ['scale', 'scale'],
  ['priority', 'priority'],
]);

/** `hasSafetyIdentifier`: the upstream gets that field by itself. Adds `user`, `prompt_cache_key` and `service_tier`. */
export function encodeIdentity(
  request: ConversationRequest,
  { quirks, losses }: { quirks: Quirks; losses: LossLog },
  body: JsonObject,
  { hasSafetyIdentifier }: { hasSafetyIdentifier: boolean },
): void {
  const { cacheKey, serviceTier } = request;
  const userId = hasSafetyIdentifier ? request.userId : endUser(request, losses);
  if (userId !== undefined) {
    if (quirks.user === false) losses.add('user', 'the upstream takes no user');
    else body['user'] = within(userId, quirks.user);
  }
  // A hint about caching, and mostly the gateway's own: leaving it out changes no answer.
  if (cacheKey !== undefined && quirks.cacheKey) body['prompt_cache_key'] = within(cacheKey, CACHE_KEY_LIMIT);
  if (serviceTier !== undefined) {
    const tier = SERVICE_TIERS.get(serviceTier);
    if (tier === undefined) losses.add('service_tier', `this wire has no tier ${serviceTier}`);
    else if (tier !== 'auto') body['service_tier'] = tier;
  }
}

/** The same user is the same name every time, whatever its length. */
function within(text: string, limit: number): string {
  return text.length <= limit ? text : createHash('sha256').update(text).digest('hex').slice(0, limit);
}
