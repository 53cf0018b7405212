/**
 * What a request insists on and only upstreams of one dialect can keep: where a model runs, what an
 * upstream holds of the conversation, and what it has sealed. Any other must not answer it.
 */
import type { ConversationRequest, DialectName } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';
import { unknownHistory } from './own-wire-only.js';

type Keeper = 'native' | 'claude-code' | 'plain';

interface Demand {
  dialect: DialectName;
  /** Engines with a conversation of their own that pass it on with their model calls. */
  engines: readonly Keeper[];
  refusal(): GatewayError;
}

/** Wherever the provider likes: what leaving the field out means. */
const ANYWHERE = 'global';

function demandsOf({ inferenceGeo, sealed, continues }: ConversationRequest): Demand[] {
  const demands: Demand[] = [];
  if (inferenceGeo !== undefined && inferenceGeo !== ANYWHERE) {
    demands.push({
      dialect: 'anthropic-messages',
      engines: ['native', 'plain'],
      refusal: () =>
        refused(
          'inference_geo',
          `nothing that answers this model can promise to run it in ${JSON.stringify(inferenceGeo.slice(0, 100))}. Leave it out, or ask for a model of an Anthropic upstream.`,
        ),
    });
  }
  if (sealed !== undefined) {
    demands.push({
      dialect: sealed.dialect,
      engines: ['native', 'plain'],
      refusal: () =>
        refused(
          sealed.param,
          `a compaction that only the provider which made it can read, and this model is answered by another. Send the messages that it stands for, or ask for a model of an ${sealed.dialect} upstream.`,
        ),
    });
  }
  if (continues !== undefined) {
    demands.push({
      dialect: continues.dialect,
      engines: [],
      refusal: () => unknownHistory(continues, 'Send the whole conversation.'),
    });
  }
  return demands;
}

function refused(param: string, why: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${why}`, { param });
}

/** Those of `upstreams` that keep all of it. Throws GatewayError where none does. */
export function ableUpstreams<T extends { dialect: DialectName | undefined }>(
  upstreams: readonly T[],
  request: ConversationRequest,
): readonly T[] {
  let able = upstreams;
  for (const { dialect, refusal } of demandsOf(request)) {
    able = able.filter((upstream) => upstream.dialect === dialect);
    if (able.length === 0) throw refusal();
  }
  return able;
}

/** Before such an engine begins: what it cannot pass on is refused, whatever upstream answers its model requests. */
export function checkDemands(request: ConversationRequest, engine: Keeper): void {
  for (const { engines, refusal } of demandsOf(request)) if (!engines.includes(engine)) throw refusal();
}
