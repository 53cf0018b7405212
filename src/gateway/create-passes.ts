/** Requests of other routes, passed on as they came, within what the key may use. */
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import type { Answer, Dispatcher, Wire } from '../engines/engine.js';
import { calledModel } from '../engines/model-catalogue.js';
import type { ModelRouter } from '../routing/model-router.js';
import type { ForwardedAnswer, Upstream } from '../upstreams/upstream.js';
import type { KeyLimits } from './limits/key-limits.js';

/** As it is configured now: it may change while the gateway runs. */
interface Routes {
  configured: Config['upstreams'];
  upstreams: ReadonlyMap<string, Upstream>;
  router: ModelRouter;
}

const wireOf = ({ dialect }: Upstream): Wire => (dialect === 'anthropic-messages' ? 'anthropic' : 'openai');

/** Anthropic's `base_url` stands before the version, OpenAI's behind it. */
const VERSION: Readonly<Record<Wire, string>> = { anthropic: '/v1', openai: '' };

export function createPasses(
  routes: () => Routes,
  limits: KeyLimits | undefined,
): Required<Pick<Dispatcher, 'pass' | 'passers' | 'passTo'>> {
  const isOpen = ({ name }: Upstream): boolean => {
    const upstream = routes().configured[name];
    return upstream !== undefined && upstream.dialect !== 'demo' && upstream.pass_through === true;
  };

  return {
    async pass({ model, bodyFor, estimate, path, ...call }) {
      const { principal } = call;
      const { router, upstreams } = routes();
      const { rule, model: upstreamModel } = calledModel(router, model, principal);
      const upstream = rule.engine === 'relay' ? upstreams.get(rule.upstreams[0] ?? '') : undefined;
      if (upstream?.pass === undefined) throw hasNoRoute(model);
      // What providers list is the price of turns: images and sounds have others.
      const price = rule.price === 'none' ? undefined : rule.price;
      const run = async (): Promise<Answer> => {
        const passed = await upstream.pass?.({
          ...call,
          path: VERSION[wireOf(upstream)] + path,
          body: bodyFor(upstreamModel),
          affinity: { key: principal.name, model: upstreamModel },
        });
        if (passed === undefined) throw hasNoRoute(model);
        const isCounted = limits?.meters(principal.name) === true && passed.status < 400;
        const usage = () => passed.usage() ?? (isCounted ? { inputTokens: estimate } : undefined);
        return answerOf(passed.upstream ?? upstream.name, { ...passed, usage });
      };
      const answer = await (limits?.within(call, { hasPrice: price !== undefined }, run) ?? run());
      return price === undefined ? answer : { ...answer, price };
    },
    passers: (wire) =>
      [...routes().upstreams.values()]
        .filter((each) => isOpen(each) && wireOf(each) === wire)
        .map(({ name }) => name),
    async passTo(name, call) {
      const upstream = routes().upstreams.get(name);
      if (upstream?.pass === undefined || !isOpen(upstream)) throw notOpen(name);
      const run = async (): Promise<Answer> => {
        const passed = await upstream.pass?.(call);
        if (passed === undefined) throw notOpen(name);
        return answerOf(name, passed);
      };
      // Nobody knows what it will cost.
      return limits?.within(call, { hasPrice: false }, run) ?? run();
    },
  };
}

function answerOf(upstream: string, passed: ForwardedAnswer): Answer {
  return { upstream, losses: [], headers: {}, body: { kind: 'bytes', ...passed } };
}

function hasNoRoute(model: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The model ${model} is an agent or the demo model, which take turns of a conversation alone. Ask for a model of an upstream.`,
    { param: 'model' },
  );
}

function notOpen(name: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no upstream ${JSON.stringify(name.slice(0, 100))} whose other routes are open. Set pass_through: true under upstreams in toolgate.yaml.`,
  );
}
