/** A conversation as a client of one route keeps it, on that route's official SDK. */
import type { DialectName } from '../../../src/core/conversation.js';

export interface ToolSpec {
  name: string;
  description: string;
  schema: ObjectSchema;
}

export interface PropertySchema {
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array';
  description?: string;
  enum?: string[];
  anyOf?: PropertySchema[];
  items?: PropertySchema;
  properties?: Record<string, PropertySchema>;
  required?: string[];
  additionalProperties?: boolean;
}

/** A type, not an interface: SDKs take objects with any further key. */
export type ObjectSchema = {
  type: 'object';
  properties: Record<string, PropertySchema>;
  required?: string[];
};

export interface ClientCall {
  id: string;
  name: string;
  input: unknown;
}

export interface ClientResult {
  /** Of the call. */
  id: string;
  text: string;
  /** A PNG in base64. */
  image?: string;
  error?: boolean;
}

export type Choice = 'auto' | 'any' | 'none' | { tool: string };

export interface SendOptions {
  model?: string;
  system?: string;
  tools?: readonly ToolSpec[];
  choice?: Choice;
  /** False: at most one call in an answer. */
  parallel?: boolean;
  headers?: Readonly<Record<string, string>>;
  /** Another client's credential. */
  key?: string;
  /** What the route's `stream` is otherwise. */
  stream?: boolean;
  /** Told the text as it comes, where the answer is streamed. */
  onText?: (text: string) => void;
}

export type Stop = 'end' | 'calls' | 'pause';

export interface ClientAnswer {
  /** All text, without the white space between its pieces. */
  text: string;
  calls: ClientCall[];
  stop: Stop;
  /** In the route's own words. */
  wireStop: string | null;
  /** `X-Session-ID`. */
  session: string;
  /** `x-toolgate-attach`. */
  attach: string;
  headers: Headers;
}

/** How some clients change what they echo. */
export const REWRITES = [
  'thinking dropped',
  'arguments written anew',
  'texts in blocks',
  'texts as strings',
] as const;

export type Rewrite = (typeof REWRITES)[number];

export interface Thread {
  readonly length: number;
  user(text: string, image?: string): this;
  /** Something that no answer ever said. */
  assistant(text: string, calls?: readonly ClientCall[]): this;
  results(results: readonly ClientResult[]): this;
  /** Puts the last answer behind the rest, as the SDK gave it. */
  echo(): this;
  /** The first `length` entries, in a thread of their own. */
  cut(length?: number): Thread;
  /** The entries from `start`. */
  rest(start: number): Thread;
  rewritten(how: Rewrite): Thread;
  /** Rejects with the SDK's error. */
  send(options?: SendOptions): Promise<ClientAnswer>;
}

export interface ThreadOptions {
  url: string;
  key: string;
  model: string;
  stream: boolean;
  /** Goes on by the id of the last answer, where the route can. */
  byId: boolean;
}

export interface Route {
  name: DialectName;
  open(options: ThreadOptions): Thread;
}

export function headersOf({ headers }: Response): Pick<ClientAnswer, 'headers' | 'session' | 'attach'> {
  return {
    headers,
    session: headers.get('x-session-id') ?? '',
    attach: headers.get('x-toolgate-attach') ?? '',
  };
}

/** The same arguments in other words: keys the other way round, and white space. */
export function writtenAnew(json: string): string {
  const value: unknown = JSON.parse(json);
  const turned =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toReversed())
      : value;
  return JSON.stringify(turned, null, 2);
}

export const turned = (input: unknown): unknown => JSON.parse(writtenAnew(JSON.stringify(input)));
