/** A gateway with the native agent on a scripted model, watched by keys of several people. */
import type { ActivityWire } from '../../src/activity/wire.js';
import type { EventLimits } from '../../src/server/console-api/events/limits.js';
import type { ConsoleEvent } from '../../src/server/console-api/wire/events.js';
import { EventReader, type EventReaderOptions } from './event-reader.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { inDialect } from './scripted-answers.js';
import { type ScriptedUpstream, type ScriptFunction, startUpstream } from './scripted-upstream.js';
import type { Scripted } from './wire.js';

export const KEYS = [
  { key: 'k-alice', name: 'alice', scopes: ['call', 'approve'] },
  { key: 'k-bob', name: 'bob', scopes: ['call', 'approve'] },
  { key: 'k-root', name: 'root', scopes: ['call', 'approve', 'admin'] },
  { key: 'k-eve', name: 'eve', scopes: ['call'] },
] as const;

export interface EventWorldOptions {
  root: string;
  steps: readonly (Scripted | ScriptFunction)[];
  permissions?: object;
  /** Beside upstreams, models and permissions. */
  config?: object;
  limits?: Partial<EventLimits>;
  dialect?: 'anthropic-messages' | 'openai-chat';
}

export class EventWorld {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;

  static async start(options: EventWorldOptions): Promise<EventWorld> {
    const { root, steps, permissions = { mode: 'allow' }, config, limits, dialect } = options;
    const upstream = await startUpstream(
      steps.map((step) => (typeof step === 'function' ? step : inDialect(step))),
    );
    const gateway = await startTestGateway({
      config: {
        server: { keys: KEYS },
        upstreams: { scripted: upstream.config(dialect ?? 'anthropic-messages') },
        models: { coder: { engine: 'native', upstream: 'scripted', model: 'm', cwd: root } },
        permissions,
        sandbox: 'off',
        ...config,
      },
      ...(limits === undefined ? {} : { eventLimits: limits }),
    });
    return new EventWorld(gateway, upstream);
  }

  private constructor(gateway: TestGateway, upstream: ScriptedUpstream) {
    this.gateway = gateway;
    this.upstream = upstream;
  }

  read(name = 'alice', options: Omit<EventReaderOptions, 'key'> = {}): Promise<EventReader> {
    return EventReader.open(this.gateway.url, { key: `k-${name}`, ...options });
  }

  /** The whole answer. Rejects when the signal fires. */
  async say(content: unknown, name = 'alice', signal?: AbortSignal): Promise<string> {
    const response = await fetch(`${this.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer k-${name}` },
      body: JSON.stringify({
        model: 'coder',
        max_tokens: 1000,
        stream: true,
        messages: [{ role: 'user', content }],
      }),
      ...(signal === undefined ? {} : { signal }),
    });
    return response.text();
  }

  async api(method: string, path: string, body?: object, name = 'alice'): Promise<Response> {
    return fetch(`${this.gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer k-${name}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

export type TurnEvent = Extract<ConsoleEvent, { turn: string }>;

export const isOfTurn = (event: ConsoleEvent): event is TurnEvent => 'turn' in event;
export const isChunk = (event: ConsoleEvent): event is { id: string; prev: string | null } & ActivityWire =>
  isOfTurn(event) && event.type !== 'turn';
export const hasEnded = (event: ConsoleEvent): boolean => event.type === 'turn' && event.state === 'ended';
