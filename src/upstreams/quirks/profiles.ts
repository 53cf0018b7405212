/**
 * What the known providers do differently, as data: a row is found by the upstream's address (or
 * named by `profile:` in the configuration) and may hold further rows for some of its models.
 * Only differences from STANDARD_QUIRKS stand here.
 */
import type { Effort } from '../../core/conversation.js';
import type { Quirks } from '../../dialects/shared/quirks.js';

export interface Profile {
  /** Tested against host and path of `base_url`. */
  address: RegExp;
  quirks: Partial<Quirks>;
  /** For models whose name matches, in order, later ones over earlier ones. */
  models?: readonly { name: RegExp; quirks: Partial<Quirks> }[];
}

const LOW_TO_HIGH: readonly Effort[] = ['low', 'medium', 'high'];

/** The models that know the tool `tool_search`. */
const FROM_GPT_5_4 = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)/;

/** Servers that grew around the first version of the API: only what everyone understands. */
const CAUTIOUS: Partial<Quirks> = {
  maxTokensField: 'max_tokens',
  strictTools: false,
  cacheKey: false,
  efforts: LOW_TO_HIGH,
};

export const PROFILES = {
  openai: {
    address: /(^|\.)api\.openai\.com(\/|$)/,
    quirks: { schema: 'openai', systemRole: 'developer', midSystemRole: 'developer', maxStops: 4 },
    models: [
      // Older models know neither the new token field nor effort.
      {
        name: /^(gpt-3|gpt-4)/,
        quirks: {
          maxTokensField: 'max_tokens',
          effortField: 'none',
          systemRole: 'system',
          midSystemRole: 'system',
        },
      },
      { name: /^gpt-4(o|\.1)/, quirks: { maxTokensField: 'max_completion_tokens' } },
      { name: /^o[1-9]/, quirks: { sampling: false, efforts: LOW_TO_HIGH, stop: false } },
      {
        name: /^o1-(mini|preview)/,
        quirks: {
          systemRole: 'system',
          midSystemRole: 'user',
          effortField: 'none',
          parallelToolCalls: false,
        },
      },
      {
        name: /^gpt-5/,
        quirks: { sampling: false, stop: false, efforts: ['minimal', 'low', 'medium', 'high'] },
      },
      // From 5.1 on: `none` exists, and chat completions takes tools only without effort.
      {
        name: /^gpt-5\.\d/,
        quirks: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'], effortWithTools: false },
      },
      { name: FROM_GPT_5_4, quirks: { toolSearch: true } },
    ],
  },
  azure: {
    address: /\.(openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)(\/|$)/,
    quirks: { schema: 'openai', systemRole: 'developer', midSystemRole: 'developer', cacheKey: false },
    models: [
      {
        name: /^(gpt-3|gpt-35|gpt-4)/,
        quirks: {
          maxTokensField: 'max_tokens',
          effortField: 'none',
          systemRole: 'system',
          midSystemRole: 'system',
        },
      },
      { name: /^(o[1-9]|gpt-5)/, quirks: { sampling: false, stop: false, efforts: LOW_TO_HIGH } },
      { name: FROM_GPT_5_4, quirks: { toolSearch: true } },
    ],
  },
  deepseek: {
    address: /(^|\.)api\.deepseek\.com(\/|$)/,
    quirks: {
      ...CAUTIOUS,
      midSystemRole: 'system',
      effortField: 'thinking',
      images: false,
      documents: false,
      parallelToolCalls: false,
      structuredOutput: 'json_object',
      reasoningHistory: 'reasoning_content',
      reasoningRequired: true,
      thinkingWithForcedTool: false,
      user: false,
      maxStops: 16,
    },
  },
  gemini: {
    address: /generativelanguage\.googleapis\.com|aiplatform\.googleapis\.com/,
    quirks: {
      ...CAUTIOUS,
      schema: 'gemini',
      thoughtSignatures: true,
      parallelToolCalls: false,
      user: false,
      toolResultImage: 'user-message',
    },
  },
  groq: {
    address: /(^|\.)api\.groq\.com(\/|$)/,
    quirks: {
      ...CAUTIOUS,
      maxTokensField: 'max_completion_tokens',
      reasoningHistory: 'none',
      documents: false,
    },
  },
  mistral: {
    address: /(^|\.)api\.mistral\.ai(\/|$)/,
    quirks: {
      ...CAUTIOUS,
      schema: 'mistral',
      effortField: 'none',
      streamUsage: false,
      user: false,
      toolIdLimit: 9,
      toolResultName: true,
      assistantAfterTool: true,
      documents: false,
    },
  },
  moonshot: {
    address: /(^|\.)api\.moonshot\.(ai|cn)(\/|$)/,
    quirks: {
      ...CAUTIOUS,
      effortField: 'none',
      midSystemRole: 'system',
      reasoningHistory: 'reasoning_content',
      documents: false,
      toolIdLimit: 64,
    },
  },
  openrouter: {
    address: /(^|\.)openrouter\.ai(\/|$)/,
    quirks: {
      maxTokensField: 'max_tokens',
      effortField: 'reasoning.effort',
      efforts: ['minimal', 'low', 'medium', 'high', 'xhigh'],
      reasoningHistory: 'reasoning_details',
      midSystemRole: 'system',
      cacheKey: false,
      strictTools: false,
    },
  },
  qwen: {
    address: /dashscope(-intl)?\.aliyuncs\.com/,
    quirks: {
      ...CAUTIOUS,
      effortField: 'enable_thinking',
      midSystemRole: 'system',
      documents: false,
      user: false,
      structuredOutput: 'json_object',
    },
  },
  xai: {
    address: /(^|\.)api\.x\.ai(\/|$)/,
    quirks: { ...CAUTIOUS, efforts: ['low', 'high'], documents: false },
  },
  vllm: {
    address: /:8000(\/|$)/,
    quirks: { ...CAUTIOUS, documents: false, reasoningHistory: 'reasoning_content' },
  },
  ollama: {
    address: /:11434(\/|$)/,
    quirks: {
      ...CAUTIOUS,
      documents: false,
      toolChoice: ['auto', 'none'],
      parallelToolCalls: false,
      user: false,
      textToolCalls: true,
    },
  },
  'llama.cpp': {
    address: /:8080(\/|$)/,
    quirks: {
      ...CAUTIOUS,
      documents: false,
      effortField: 'none',
      user: false,
      reasoningHistory: 'reasoning_content',
    },
  },
  'lm-studio': {
    address: /:1234(\/|$)/,
    quirks: { ...CAUTIOUS, documents: false, effortField: 'none', user: false },
  },
  anthropic: {
    address: /(^|\.)api\.anthropic\.com(\/|$)/,
    quirks: {
      midSystem: true,
      toolIdLimit: 128,
      toolNameLimit: 128,
      toolResultImage: 'inline',
      toolSearch: true,
    },
    models: [
      // These think by a budget of tokens and know neither effort nor instructions in the middle.
      {
        name: /^claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)/,
        quirks: { effortField: 'thinking', midSystem: false },
      },
      { name: /^claude-3/, quirks: { toolSearch: false } },
    ],
  },
  /** Follows its dialect's documentation to the letter. */
  standard: { address: /(?!)/, quirks: {} },
} satisfies Record<string, Profile>;

type ProfileName = keyof typeof PROFILES;

export function isProfileName(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name);
}

/** The profile whose address this is; undefined for a stranger. */
export function profileOf(baseUrl: string): ProfileName | undefined {
  const { host, pathname } = new URL(baseUrl);
  const address = `${host}${pathname}`;
  return Object.keys(PROFILES)
    .filter(isProfileName)
    .find((name) => PROFILES[name].address.test(address));
}
