/** A client's way through the gateway: a scripted upstream of each wire behind the same model names. */
import type { DialectName } from '../../src/core/conversation.js';
import { LONG } from '../faults/counts.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { type Aside, type Conversations, ScriptedModel } from './scripted-model.js';

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
  /** More of the gateway's configuration. */
  config?: object;
  aside?: Aside;
}

/** The wires that Claude Code is tested on; its own is the byte lane. */
export const LANES = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

/** Starting the clients is most of what these tests take: in a sample, what is named; else every wire. */
export const sampleOf = (...lanes: (typeof LANES)[number][]): readonly (typeof LANES)[number][] =>
  LONG ? LANES : lanes;

/** The name by which upstreams know the model, where it is not the client's own. */
export const UPSTREAM_MODEL = 'scripted-model';

/** All models of the gateway go to one scripted upstream. */
export function openLane(
  dialect: DialectName,
  conversations: Conversations,
  options: LaneOptions = {},
): Promise<Lane> {
  const name = dialect === 'anthropic-messages' ? {} : { model: UPSTREAM_MODEL };
  const models = { '*': { upstream: 'scripted', ...name, ...options.model } };
  return openGateway(dialect, conversations, models, options);
}

/** `models` as in the configuration; their upstream is `scripted`. */
export async function openGateway(
  dialect: DialectName,
  conversations: Conversations,
  models: object,
  options: Omit<LaneOptions, 'model'> = {},
): Promise<Lane> {
  const model = new ScriptedModel(conversations, options.aside);
  const upstream = await startUpstream(model.script);
  const scripted = { ...upstream.config(dialect), ...options.upstream };
  const gateway = await startTestGateway({
    config: { upstreams: { scripted }, models, ...options.config },
  });
  return { dialect, gateway, upstream, model };
}
