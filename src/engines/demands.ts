/**
 * What a request insists on and only upstreams of one dialect can keep: where a model runs, who checks
 * its tool calls, what an upstream holds of the conversation, and what it has sealed. Any other must not answer it.
 */
import type { Continuation, ConversationRequest, DialectName, Verbatim } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';

type Keeper = 'native' | 'claude-code' | 'plain';

/** What an upstream is known to keep. */
interface Able {
  name: string;
  dialect: DialectName | undefined;
  region?: string;
}

interface Demand {
  keeps(upstream: Able): boolean;
  /** Engines with a conversation of their own that pass it on with their model calls. */
  engines: readonly Keeper[];
  /** `asked`: those that would have answered. */
  refusal(asked: readonly Able[]): GatewayError;
}

/** Wherever the provider likes: what leaving the field out means. */
const ANYWHERE = 'global';

const speaks =
  (wire: DialectName) =>
  ({ dialect }: Able): boolean =>
    dialect === wire;

function demandsOf(request: ConversationRequest): Demand[] {
  const { inferenceGeo, sealed, safeguards, continues, summary } = request;
  const demands: Demand[] = [];
  if (inferenceGeo !== undefined && inferenceGeo !== ANYWHERE) {
    demands.push({
      // Anthropic keeps the field itself, where the operator has not said where its models run.
      keeps: ({ dialect, region }) =>
        region === undefined
          ? dialect === 'anthropic-messages'
          : region.toLowerCase() === inferenceGeo.toLowerCase(),
      engines: ['native', 'plain'],
      refusal: (asked) => refused('inference_geo', geoRefusal(inferenceGeo.slice(0, 100), asked)),
    });
  }
  if (sealed !== undefined) {
    demands.push({
      keeps: speaks(sealed.dialect),
      engines: ['native', 'plain'],
      refusal: () =>
        refused(
          sealed.param,
          `a compaction that only the provider which made it can read, and this model is answered by another. Send the messages that it stands for, or ask for a model of an ${sealed.dialect} upstream.`,
        ),
    });
  }
  if (safeguards === true) {
    demands.push({
      keeps: speaks('anthropic-messages'),
      engines: [],
      // Claude Code reads the name, leaves the field out and checks tool calls itself.
      refusal: () =>
        refused(
          'safeguards',
          'nothing that answers this model checks tool calls. Leave it out, and check them with requests of your own.',
        ),
    });
  }
  if (summary !== undefined) {
    demands.push({
      keeps: () => true,
      engines: [],
      refusal: () =>
        refused(
          'compaction',
          'this model is an agent, which makes room in its context by itself. Leave it out, and go on with the conversation as it is.',
        ),
    });
  }
  if (continues !== undefined) {
    demands.push({
      keeps: speaks(continues.dialect),
      engines: [],
      refusal: () => unknownHistory(continues, 'Send the whole conversation.'),
    });
  }
  return demands;
}

function geoRefusal(wanted: string, asked: readonly Able[]): string {
  const known = asked.flatMap(({ name, region }) =>
    region === undefined ? [] : [`${JSON.stringify(region)} (${name})`],
  );
  const wish = `nothing that answers this model can promise to run it in ${JSON.stringify(wanted)}.`;
  return known.length === 0
    ? `${wish} Leave it out, or ask for a model of an Anthropic upstream or of one with that region in its configuration.`
    : `${wish} It runs in ${[...new Set(known)].join(', ')}: ask for that, or for another model.`;
}

function refused(param: string, why: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${why}`, { param });
}

/** Those of `upstreams` that keep all of it. Throws GatewayError where none does. */
export function ableUpstreams<T extends Able>(
  upstreams: readonly T[],
  request: ConversationRequest,
): readonly T[] {
  let able = upstreams;
  for (const { keeps, refusal } of demandsOf(request)) {
    const asked = able;
    able = able.filter(keeps);
    if (able.length === 0) throw refusal(asked);
  }
  return able;
}

/** Before such an engine begins: what it cannot pass on is refused, whatever upstream answers its model requests. */
export function checkDemands(request: ConversationRequest, engine: Keeper): void {
  for (const { engines, refusal } of demandsOf(request)) if (!engines.includes(engine)) throw refusal([]);
}

/** What a request goes on from, in the words of the API, by the field that names it. */
const KINDS: Readonly<Record<string, { kind: string; detail: string }>> = {
  previous_response_id: { kind: 'the response', detail: 'previous_response_not_found' },
  conversation: { kind: 'the conversation', detail: 'conversation_not_found' },
  'prompt.id': { kind: 'the stored prompt', detail: 'prompt_not_found' },
  'thread.previous_message_id': { kind: 'the thread of the message', detail: 'thread_not_found' },
};
const ITEM = { kind: 'the item', detail: 'item_not_found' } as const;

/** The answer to a request whose bytes would have to be forwarded and cannot be. */
export class NotForwardedError extends GatewayError {}

export function notForwarded({ param, message }: Verbatim): NotForwardedError {
  return new NotForwardedError('invalid_request', message, { param });
}

export function unknownHistory({ id, param }: Continuation, advice: string): GatewayError {
  const { kind, detail } = KINDS[param] ?? ITEM;
  return new GatewayError(
    'not_found',
    `Nothing is known here of ${kind} ${JSON.stringify(id.slice(0, 100))}, which the request goes on from. It may have expired, been deleted, or been made with store: false, with another key or by another provider. ${advice}`,
    { param, detail },
  );
}
