/**
 * Known complaints of upstreams and what to change so that the same request is taken. A fix is
 * tried once, and remembered for that upstream and model when it is.
 */
import type { Quirks } from '../../dialects/shared/quirks.js';
import { refused } from '../../dialects/shared/refused.js';
import { outputLimitIn } from './output-limit.js';

interface Fix {
  /** Names the lesson in the store and in `doctor`. */
  name: string;
  /** Tested, without case, against the upstream's message. */
  complaint: RegExp;
  /** What to change, given what was used and said; an empty change means that this is not it. */
  change(used: Quirks, message: string): Partial<Quirks>;
  /** Also tried where the message reads like a context overflow. */
  ofOverflow?: true;
}

const set =
  <K extends keyof Quirks>(key: K, value: Quirks[K]) =>
  (used: Quirks): Partial<Quirks> => {
    const change: Partial<Quirks> = {};
    if (used[key] !== value) change[key] = value;
    return change;
  };

/** In order: the first whose complaint matches and whose change is one. */
export const FIXES: readonly Fix[] = [
  {
    name: 'shorter answers',
    complaint: /tokens/i,
    ofOverflow: true,
    change: (used, message) => {
      const limit = outputLimitIn(message);
      return limit === undefined || limit >= used.maxOutputTokens ? {} : { maxOutputTokens: limit };
    },
  },
  {
    name: 'max_completion_tokens wanted',
    complaint: /max_tokens[\s\S]{0,160}max_completion_tokens/i,
    change: (used) =>
      used.maxTokensField === 'max_tokens' ? { maxTokensField: 'max_completion_tokens' } : {},
  },
  {
    name: 'max_tokens wanted',
    complaint: refused('max_completion_tokens'),
    change: (used) =>
      used.maxTokensField === 'max_completion_tokens' ? { maxTokensField: 'max_tokens' } : {},
  },
  {
    name: 'no effort with tools',
    complaint:
      /(tools?|function)[\s\S]{0,200}reasoning[._]effort|reasoning[._]effort[\s\S]{0,200}(tools?|function)/i,
    change: set('effortWithTools', false),
  },
  {
    name: 'reasoning must be passed back',
    complaint: /reasoning_content[\s\S]{0,120}(must|missing|passed back|required)/i,
    change: (used) =>
      used.reasoningRequired && used.reasoningHistory === 'reasoning_content'
        ? {}
        : { reasoningHistory: 'reasoning_content', reasoningRequired: true },
  },
  {
    name: 'reasoning not taken back',
    complaint: refused('reasoning_content|reasoning_details'),
    change: (used) =>
      used.reasoningHistory === 'none' ? {} : { reasoningHistory: 'none', reasoningRequired: false },
  },
  {
    name: 'no deferred tools',
    complaint: /defer_loading|tool_reference|tool_search/i,
    change: set('toolSearch', false),
  },
  {
    name: 'no reasoning summary',
    complaint:
      /verified to generate reasoning summar|reasoning\.summary[\s\S]{0,120}(?:unsupported|not supported|unknown|invalid)|(?:unsupported|unknown|invalid)[\s\S]{0,120}reasoning\.summary/i,
    change: set('reasoningSummary', false),
  },
  {
    name: 'no encrypted reasoning',
    complaint: /encrypted content is not supported|reasoning\.encrypted_content/i,
    change: set('encryptedReasoning', false),
  },
  {
    name: 'no effort',
    complaint: refused('reasoning_effort|reasoning\\.effort|enable_thinking|"?thinking"?'),
    change: set('effortField', 'none'),
  },
  {
    name: 'no stream_options',
    complaint: refused('stream_options|include_usage'),
    change: set('streamUsage', false),
  },
  {
    name: 'no parallel_tool_calls',
    complaint: refused('parallel_tool_calls'),
    change: set('parallelToolCalls', false),
  },
  { name: 'no prompt_cache_key', complaint: refused('prompt_cache_key'), change: set('cacheKey', false) },
  { name: 'no sampling', complaint: refused('temperature|top_p'), change: set('sampling', false) },
  {
    name: 'no developer role',
    complaint: refused('developer'),
    change: (used) =>
      used.systemRole === 'developer' || used.midSystemRole === 'developer'
        ? {
            systemRole: 'system',
            midSystemRole: used.midSystemRole === 'developer' ? 'user' : used.midSystemRole,
          }
        : {},
  },
  {
    name: 'system only at the beginning',
    complaint: /system[\s\S]{0,80}(at the beginning|first message|must be first|only be the first)/i,
    change: (used) =>
      used.midSystemRole === 'user' && !used.midSystem ? {} : { midSystemRole: 'user', midSystem: false },
  },
  {
    name: 'no image in a tool result',
    complaint: /(tool[\s\S]{0,80}image|image[\s\S]{0,80}tool|text children only)/i,
    change: (used) => (used.toolResultImage === 'inline' ? { toolResultImage: 'user-message' } : {}),
  },
  {
    name: 'no images',
    complaint: refused('image_url|image input|images?|vision|multimodal'),
    change: set('images', false),
  },
  {
    name: 'no documents',
    complaint: refused('"?file"?|input_file|document|pdf'),
    change: set('documents', false),
  },
  {
    name: 'no forced tool choice',
    complaint: refused('tool_choice'),
    change: (used) => (used.toolChoice.includes('any') ? { toolChoice: ['auto', 'none'] } : {}),
  },
  { name: 'no strict tools', complaint: refused('strict'), change: set('strictTools', false) },
  {
    name: 'no JSON schema output',
    complaint: refused('response_format|json_schema'),
    change: (used) =>
      used.structuredOutput === 'json_schema'
        ? { structuredOutput: 'json_object' }
        : used.structuredOutput === 'json_object'
          ? { structuredOutput: 'none' }
          : {},
  },
  {
    name: 'simpler tool schemas',
    complaint:
      /(schema|parameters|propertyNames|additionalProperties|\$ref|\$schema|anyOf|format)[\s\S]{0,200}(invalid|not (?:supported|permitted|allowed)|unsupported|unknown|cannot|only)|(invalid|unsupported|unknown)[\s\S]{0,120}(schema|propertyNames|additionalProperties)/i,
    change: (used) =>
      used.schema === 'gemini' ? {} : { schema: used.schema === 'full' ? 'openai' : 'gemini' },
  },
  { name: 'no stop sequences', complaint: refused('"?stop"?'), change: set('stop', false) },
  { name: 'no user', complaint: refused('"?user"?'), change: set('user', false) },
  { name: 'no cache_control', complaint: refused('cache_control'), change: set('cacheControl', false) },
  {
    name: 'tool results need a name',
    complaint: /(tool|function)[\s\S]{0,60}name[\s\S]{0,40}(required|missing)/i,
    change: set('toolResultName', true),
  },
];
