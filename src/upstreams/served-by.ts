/** Who serves an endpoint, by the names that OpenTelemetry has for providers of models. */
import type { DialectName } from '../core/conversation.js';
import type { Endpoint } from './endpoint.js';
import type { Upstream } from './upstream.js';

/** By the end of the host name. */
const PROVIDERS: readonly (readonly [host: string, provider: string])[] = [
  ['openai.com', 'openai'],
  ['openai.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['anthropic.com', 'anthropic'],
  ['amazonaws.com', 'aws.bedrock'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['mistral.ai', 'mistral_ai'],
  ['deepseek.com', 'deepseek'],
  ['groq.com', 'groq'],
  ['x.ai', 'x_ai'],
  ['perplexity.ai', 'perplexity'],
  ['cohere.com', 'cohere'],
];

/** Anybody else is named by the wire that it speaks. */
const WIRES: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
};

const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

export function servedBy(
  { baseUrl }: Pick<Endpoint, 'baseUrl'>,
  dialect: DialectName,
): NonNullable<Upstream['served']> {
  const { hostname, port, protocol } = new URL(baseUrl);
  // The most specific name is the longest.
  const [found] = PROVIDERS.filter(([host]) => hostname === host || hostname.endsWith(`.${host}`)).sort(
    ([one], [other]) => other.length - one.length,
  );
  return {
    provider: found?.[1] ?? WIRES[dialect],
    host: hostname,
    port: port === '' ? (PORTS[protocol] ?? 0) : Number(port),
  };
}
