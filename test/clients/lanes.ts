/** A client's way through the gateway: a scripted upstream of each wire behind the same model names. */
import type { DialectName } from '../../src/core/conversation.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { type Conversations, ScriptedModel } from './scripted-model.js';

export interface Lane {
  dialect: DialectName;
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  model: ScriptedModel;
}

export interface LaneOptions {
  /** More of the upstream's configuration. */
  upstream?: object;
  /** More of the model's configuration. */
  model?: object;
}

/** The name by which upstreams know the model, where it is not the client's own. */
export const UPSTREAM_MODEL = 'scripted-model';

export async function openLane(
  dialect: DialectName,
  conversations: Conversations,
  options: LaneOptions = {},
): Promise<Lane> {
  const model = new ScriptedModel(conversations);
  const upstream = await startUpstream(model.script);
  const gateway = await startTestGateway({
    config: {
      upstreams: { scripted: { ...upstream.config(dialect), ...options.upstream } },
      models: { '*': { upstream: 'scripted', ...(dialect === 'anthropic-messages' ? {} : { model: UPSTREAM_MODEL }), ...options.model } },
    },
  });
  return { dialect, gateway, upstream, model };
}
