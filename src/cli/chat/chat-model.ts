/** Which model `chat` talks to, and the configuration in which it is an agent. */
import { DEFAULTS } from '../../config/defaults.js';
import type { Config, ModelConfig } from '../../config/schema.js';
import { ModelRouter } from '../../routing/model-router.js';
import { UsageError } from '../shared/command.js';

export interface ChatModel {
  /** With the model as an agent in it. */
  config: Config;
  model: string;
  upstreams: readonly string[];
}

/** A person is there to say when it is enough. */
const CHAT_TURNS = 100;
/** `cwd`: the folder that the person is in. Throws UsageError for a name that nothing answers. */
export function chatModel(config: Config, requested: string | undefined, cwd: string): ChatModel {
  const name = requested ?? defaultModel(config);
  const found = ruleFor(config, name);
  if (found === undefined) {
    throw new UsageError(
      `No model is called \`${name}\`. The configuration has: ${Object.keys(config.models).join(', ') || 'none'}.`,
    );
  }
  const upstreams = typeof found.upstream === 'string' ? [found.upstream] : found.upstream;
  const agent: ModelConfig = {
    ...(found.engine === 'relay' ? { ...DEFAULTS.agent, ...routedParts(found) } : found),
    engine: 'native',
    model: found.model ?? name,
    // Independent of the folder that the same model has for API clients.
    cwd,
    max_turns: CHAT_TURNS,
  };
  // An exact name is found before any glob.
  return { config: { ...config, models: { ...config.models, [name]: agent } }, model: name, upstreams };
}

/** An agent of the configuration, else a model that it names; the demo model where nothing else is connected. */
function defaultModel(config: Config): string {
  const named = Object.entries(config.models).filter(([name]) => !name.includes('*'));
  const [chosen] = named.find(([, { engine }]) => engine === 'native') ?? named[0] ?? [];
  if (chosen !== undefined) return chosen;
  const connected = Object.entries(config.models).filter(([, { upstream }]) => !isDemo(config, upstream));
  if (connected.length === 0) return 'demo';
  throw new UsageError(
    `Which model? Name one with --model; connected are: ${connected.map(([glob]) => glob).join(', ')}.`,
  );
}

function isDemo(config: Config, upstream: ModelConfig['upstream']): boolean {
  const [first = ''] = typeof upstream === 'string' ? [upstream] : upstream;
  return (config.upstreams[first]?.dialect ?? 'demo') === 'demo';
}

function ruleFor(config: Config, name: string): ModelConfig | undefined {
  const router = new ModelRouter(
    Object.fromEntries(
      Object.keys(config.models).map((key) => [key, { engine: 'relay' as const, upstreams: [] }]),
    ),
  );
  const route = router.route(name);
  return route === undefined ? undefined : config.models[route.pattern];
}

function routedParts({
  upstream,
  display_name,
  context_window,
  max_output_tokens,
  effort,
}: ModelConfig): Pick<ModelConfig, 'upstream'> & Partial<ModelConfig> {
  return {
    upstream,
    ...(display_name === undefined ? {} : { display_name }),
    ...(context_window === undefined ? {} : { context_window }),
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    ...(effort === undefined ? {} : { effort }),
  };
}
