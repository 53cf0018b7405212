/** What a case file may say. README.md explains the fields; a key that is not here is an error. */
import * as z from 'zod';
import { AREAS } from './areas.js';
import { isSelection, type PerPair, WIRES } from './dialects.js';

const wire = z.enum(WIRES);
const json = z.record(z.string(), z.unknown());

/** One value for all, or one for each wire or pair. */
const perPair = <S extends z.ZodType>(schema: S): z.ZodType<PerPair<z.infer<S>>> =>
  z.custom<PerPair<z.infer<S>>>().superRefine((value, context) => {
    const values: readonly unknown[] = isSelection(value) ? Object.values(value) : [value];
    for (const each of values) {
      const result = schema.safeParse(each);
      for (const { path, message } of result.error?.issues ?? []) {
        context.addIssue({ code: 'custom', message: `${path.join('.')}: ${message}` });
      }
    }
  });

// ── the client's request, in the words of no wire ─────────────────────────────────────────────────

const media = z.union([
  z.strictObject({ type: z.string(), data: z.string(), name: z.string().optional() }),
  z.strictObject({ url: z.string() }),
]);

const basicPart = [
  z.string(),
  z.strictObject({ text: z.string() }),
  z.strictObject({ image: media }),
  z.strictObject({ document: media }),
] as const;

const resultPart = z.union(basicPart);

const part = z.union([
  ...basicPart,
  z.strictObject({ thinking: z.string(), signature: z.string().optional() }),
  z.strictObject({ call: z.strictObject({ id: z.string(), name: z.string(), input: json }) }),
  z.strictObject({
    result: z.strictObject({
      id: z.string(),
      content: z.union([z.string(), z.array(resultPart)]).optional(),
      error: z.boolean().optional(),
    }),
  }),
]);

const said = z.union([z.string(), z.array(part)]);

const turn = z.union([
  z.string(),
  z.strictObject({ user: said }),
  z.strictObject({ assistant: said }),
  z.strictObject({ system: z.string() }),
]);

const tool = z.union([
  z.string(),
  z.strictObject({
    name: z.string(),
    description: z.string().optional(),
    schema: json.optional(),
    strict: z.boolean().optional(),
  }),
]);

const request = z.strictObject({
  system: z.string().optional(),
  turns: z.array(turn).optional(),
  tools: z.array(tool).optional(),
  tool_choice: z.union([z.enum(['auto', 'any', 'none']), z.strictObject({ tool: z.string() })]).optional(),
  parallel: z.boolean().optional(),
  max_tokens: z.number().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  stop: z.array(z.string()).optional(),
  thinking: z.union([z.enum(['adaptive', 'disabled']), z.strictObject({ budget: z.number() })]).optional(),
  effort: z.string().optional(),
  format: z.strictObject({ schema: json, name: z.string().optional() }).optional(),
  user: z.string().optional(),
  tier: z.string().optional(),
});

// ── the upstream's reply ──────────────────────────────────────────────────────────────────────────

const pieces = z.union([z.string(), z.array(z.string())]);

/** An answer that the builders in test/support write for each wire. */
const scripted = z.strictObject({
  parts: z.array(
    z.union([
      z.strictObject({ text: pieces }),
      z.strictObject({ thinking: pieces, signature: z.string().optional() }),
      z.strictObject({ call: z.string(), id: z.string(), arguments: pieces }),
    ]),
  ),
  stop: z.enum(['end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'refusal']).optional(),
  stop_sequence: z.string().optional(),
  usage: z
    .strictObject({
      input: z.number(),
      output: z.number(),
      cache_read: z.number().optional(),
      cache_write: z.number().optional(),
      reasoning: z.number().optional(),
    })
    .optional(),
});

/** Bytes of one wire, whole and as a stream. */
const exact = z.strictObject({
  /** Each an event: an object, text that is its data, or `{raw}`, bytes as they are. */
  sse: z.array(z.union([z.string(), json])).optional(),
  whole: z.union([json, z.string()]).optional(),
  /** Given so whatever was asked for. */
  form: z.enum(['sse', 'whole']).optional(),
  status: z.number().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  end: z.enum(['keep-alive', 'close', 'truncate', 'reset']).optional(),
  /** Every write is cut into so many bytes. */
  write_size: z.number().optional(),
  /** What ends a line of the stream. */
  eol: z.enum(['\n', '\r\n', '\r']).optional(),
  /** No space behind `data:`. */
  tight: z.boolean().optional(),
  gzip: z.boolean().optional(),
});

const reply = z.union([scripted, exact]);

// ── what must come of it ──────────────────────────────────────────────────────────────────────────

const upstreamRequest = z.strictObject({
  has: z.unknown().optional(),
  /** Paths that must not be there; `*` in them is every element. */
  lacks: z.array(z.string()).optional(),
  text_has: z.array(z.string()).optional(),
  text_lacks: z.array(z.string()).optional(),
  headers: json.optional(),
});

const answer = z.strictObject({
  blocks: z
    .array(
      z.union([
        z.string(),
        z.strictObject({ text: z.unknown() }),
        z.strictObject({ thinking: z.unknown(), signature: z.unknown().optional() }),
        z.strictObject({ redacted: z.unknown() }),
        z.strictObject({ call: z.unknown(), input: z.unknown().optional(), id: z.unknown().optional() }),
      ]),
    )
    .optional(),
  stop: z
    .enum([
      'end_turn',
      'tool_use',
      'max_tokens',
      'stop_sequence',
      'refusal',
      'pause_turn',
      'compaction',
      'model_context_window_exceeded',
    ])
    .optional(),
  stop_sequence: z.string().optional(),
  usage: z
    .strictObject({
      input: z.unknown().optional(),
      output: z.unknown().optional(),
      cache_read: z.unknown().optional(),
      cache_write: z.unknown().optional(),
      reasoning: z.unknown().optional(),
    })
    .optional(),
  /** Input tokens in the first event, for wires that have them there. */
  start_input: z.unknown().optional(),
});

const failure = z.strictObject({
  status: z.number(),
  message: z.unknown().optional(),
  /** The `type` of the client's wire. */
  type: perPair(z.string()).optional(),
  /** The `code`, where the client's wire has one. */
  code: perPair(z.string()).optional(),
  /** A stream has begun and ends with the error. */
  in_stream: z.boolean().optional(),
});

const losses = perPair(z.array(z.string()));

/** A second request that goes on from the answer, as the client of the wire would send it. */
const followUp = z.strictObject({
  /** Results of the calls by tool name; `ok` for the others. */
  results: z.record(z.string(), z.string()).optional(),
  user: z.string().optional(),
  /** The client forgets its thinking, as clients of this wire do that know nothing of it. */
  forget: z.array(z.enum(['reasoning_content', 'reasoning_details', 'extra_content'])).optional(),
  upstream_request: perPair(upstreamRequest).optional(),
  losses: losses.optional(),
});

const how = z.string().regex(/^(carried|mapped|lost)(: .+)?$/, {
  message: 'expected carried, mapped or lost, with a note behind a colon',
});

const row = z.strictObject({ group: z.string(), feature: z.string(), how: perPair(how) });

export const variationSchema = z.strictObject({
  title: z.string(),
  client: z.array(wire).optional(),
  upstream: z.array(wire).optional(),
  /** Pairs that the variation is not for, as `chat>chat`. */
  except: z.array(z.string()).optional(),
  profile: z.string().optional(),
  /** The family that the model's name begins with, where a profile looks at it. */
  model: z.string().optional(),
  request: perPair(request).optional(),
  /** A body of the client's own wire in place of `request`. */
  body: json.optional(),
  /** Fields that are added to what `request` makes. */
  extra: perPair(json).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** `{{model}}` in it is the name. The bytes must arrive as they are. */
  bytes: perPair(z.string()).optional(),
  reply: perPair(reply).optional(),
  /** Replies before `reply`, in order. */
  first: perPair(z.array(reply)).optional(),
  stream: z.enum(['both', 'only', 'never']).optional(),
  upstream_request: perPair(upstreamRequest).optional(),
  /** How many the upstream gets; one for each reply without, and perhaps more where it fails. */
  upstream_requests: z.number().optional(),
  answer: perPair(answer).optional(),
  error: perPair(failure).optional(),
  losses: losses.optional(),
  response_headers: json.optional(),
  /** Each counts more tokens than the one before it. */
  counts: z.array(request).optional(),
  // biome-ignore lint/suspicious/noThenProperty: a word of the case files, never awaited.
  then: followUp.optional(),
  /** The request breaks rules on purpose that are checked of every other one. */
  lenient: z.boolean().optional(),
  row: row.optional(),
});

export const caseSchema = z.strictObject({
  /** In the list of known protocol cases; none for parameters and lanes. */
  number: z.number().optional(),
  title: z.string(),
  /** Where its checks count in a score. */
  area: z.enum(AREAS),
  /** What is right, in a sentence. */
  rule: z.string(),
  request: request.optional(),
  variations: z.array(variationSchema).min(1),
});

export const elsewhereSchema = z.array(
  z.strictObject({
    number: z.number(),
    title: z.string(),
    why: z.string(),
    /** Files of tests that show it, from the root. */
    tests: z.array(z.string()),
  }),
);

export type Case = z.infer<typeof caseSchema>;
export type Variation = z.infer<typeof variationSchema>;
export type RequestSpec = z.infer<typeof request>;
export type TurnSpec = z.infer<typeof turn>;
export type PartSpec = z.infer<typeof part>;
export type ResultPartSpec = z.infer<typeof resultPart>;
export type ToolSpec = z.infer<typeof tool>;
export type MediaSpec = z.infer<typeof media>;
export type ReplySpec = z.infer<typeof reply>;
export type ScriptedSpec = z.infer<typeof scripted>;
export type ExactSpec = z.infer<typeof exact>;
export type UpstreamRequestSpec = z.infer<typeof upstreamRequest>;
export type AnswerSpec = z.infer<typeof answer>;
export type FailureSpec = z.infer<typeof failure>;
export type FollowUpSpec = z.infer<typeof followUp>;
