/**
 * What an upstream does not take, as the token by which Claude Code leaves it out and asks again. It
 * knows Anthropic's own wordings; other servers of this wire have theirs.
 */
import { refused } from '../shared/refused.js';

type Classify = (message: string) => string | undefined;

const when =
  (expression: RegExp, name: string): Classify =>
  (message) =>
    expression.test(message) ? name : undefined;

const REFUSED_BETA = refused('beta');
const BETA_NAME = /\b[a-z][a-z0-9-]*-20\d\d-\d\d-\d\d\b/;
const REFUSED_THINKING = refused('thinking');
const THINKING_TYPE = /thinking\W{0,4}(?:type)?\W{0,8}(enabled|adaptive)\b|\b(adaptive) thinking\b/i;

/** The first that fits; a wrong one would make the client leave out the wrong thing. */
const CLASSES: readonly Classify[] = [
  when(refused('role\\W{0,8}system\\b|system role|mid-conversation system'), 'mid_conv_system'),
  when(refused('cache_control'), 'cache_control_field'),
  when(
    /(?:thinking|reasoning)[\s\S]{0,80}signature[\s\S]{0,80}(?:invalid|mismatch|not valid|verif|missing)|(?:invalid|mismatch|verif)[\s\S]{0,80}signature[\s\S]{0,80}(?:thinking|reasoning)/i,
    'thinking_signature',
  ),
  (message) => {
    const [, value, bare] = REFUSED_THINKING.test(message) ? (THINKING_TYPE.exec(message) ?? []) : [];
    const type = value ?? bare;
    return type === undefined ? undefined : `thinking_type:${type.toLowerCase()}`;
  },
  when(
    refused('output_config\\.format|output_format|json_schema|structured outputs?'),
    'structured_outputs_unsupported',
  ),
  when(refused('\\beffort\\b|reasoning_effort|output_config'), 'effort_unsupported'),
  when(refused('\\bimages?\\b|\\bimage_url\\b|\\bvision\\b|\\bmultimodal\\b'), 'image_block'),
  when(refused('\\bpdfs?\\b|\\bdocuments?\\b'), 'document_block'),
  (message) => {
    const beta = REFUSED_BETA.test(message) ? BETA_NAME.exec(message)?.[0] : undefined;
    return beta === undefined ? undefined : `beta_header:${beta}`;
  },
];

const TOKEN = 'capability_rejected: ';

/** `message` with the token behind it, where it refuses something that a client can leave out. */
export function namingCapability(message: string): string {
  if (message.includes(TOKEN)) return message;
  for (const classify of CLASSES) {
    const name = classify(message);
    if (name !== undefined) return `${message} (${TOKEN}${name})`;
  }
  return message;
}
