/**
 * Tool calls that a model wrote into its text because the server did not parse them. Only names
 * that were offered count; anything else stays text, byte for byte. From the first character that
 * may open a call the text is held back, even where the opener is split over pieces.
 */
import type { JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { OfferedTool, ToolNames } from '../shared/tool-names.js';

interface Form {
  open: string;
  close: string;
}

/** Qwen and Hermes, Qwen Coder, Claude's own, and the wrapper around the last. */
const FORMS: readonly Form[] = [
  { open: '<tool_call>', close: '</tool_call>' },
  { open: '<function=', close: '</function>' },
  { open: '<invoke name=', close: '</invoke>' },
  { open: '<function_calls>', close: '</function_calls>' },
];
const LONGEST_OPENER = Math.max(...FORMS.map(({ open }) => open.length));
/** A call that is longer was not one. */
const HELD_LIMIT = 4 * 1024 * 1024;

interface FoundCall {
  name: string;
  input: JsonObject;
}

export class TextToolCalls {
  readonly #names: ToolNames;
  #held = '';
  #form: Form | undefined;
  /** The end of what is held, in which the closer was not found and may begin. */
  #seam = '';
  #count = 0;

  constructor(names: ToolNames) {
    this.#names = names;
  }

  push(text: string, out: ModelEvent[]): void {
    const goesOn = this.#form !== undefined && this.#goesOn(this.#form, text);
    this.#held += text;
    if (goesOn) return;
    while (this.#step(out)) {
      // One step for each opener and each closer that has come.
    }
  }

  /** The text is over: an unfinished call may still be readable. */
  flush(out: ModelEvent[]): void {
    const held = this.#held;
    this.#held = '';
    const form = this.#form;
    this.#form = undefined;
    if (form === undefined || !this.#emit(`${held}${form.close}`, out)) say(held, out);
  }

  /** True when `text` does not end the open call. Looks at no more than the new piece: a call may be long. */
  #goesOn({ close }: Form, text: string): boolean {
    const seam = this.#seam + text;
    this.#seam = seam.slice(1 - close.length);
    return this.#held.length + text.length < HELD_LIMIT && !seam.includes(close);
  }

  /** True when there may be more to do with what is held. */
  #step(out: ModelEvent[]): boolean {
    if (this.#form === undefined) return this.#findOpener(out);
    const end = this.#held.indexOf(this.#form.close);
    if (end < 0 && this.#held.length < HELD_LIMIT) {
      this.#seam = this.#held.slice(1 - this.#form.close.length);
      return false;
    }
    const length = end < 0 ? this.#held.length : end + this.#form.close.length;
    const call = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#form = undefined;
    if (end < 0 || !this.#emit(call, out)) say(call, out);
    return this.#held !== '';
  }

  #findOpener(out: ModelEvent[]): boolean {
    let at = this.#held.indexOf('<');
    while (at >= 0) {
      const rest = this.#held.slice(at, at + LONGEST_OPENER);
      const form = FORMS.find(({ open }) => rest.startsWith(open));
      const maybe = form === undefined && FORMS.some(({ open }) => open.startsWith(rest));
      if (form !== undefined || maybe) {
        say(this.#held.slice(0, at), out);
        this.#held = this.#held.slice(at);
        this.#form = form;
        return form !== undefined;
      }
      at = this.#held.indexOf('<', at + 1);
    }
    say(this.#held, out);
    this.#held = '';
    return false;
  }

  /** False when `text` is no call of an offered tool. */
  #emit(text: string, out: ModelEvent[]): boolean {
    const calls = readCalls(text, this.#names.offered);
    if (calls.length === 0) return false;
    for (const { name, input } of calls) {
      const key = `text-${this.#count}`;
      this.#count += 1;
      out.push(
        { type: 'tool', key, name: this.#names.decode(name) },
        { type: 'tool-input', key, json: JSON.stringify(input) },
        { type: 'tool-end', key },
      );
    }
    return true;
  }
}

function say(text: string, out: ModelEvent[]): void {
  if (text !== '') out.push({ type: 'text', text });
}

type Offered = ReadonlyMap<string, OfferedTool>;

/** Up to the last closer: after it no opener has an end, and each would be searched for it to the end of the text. */
function upToLast(text: string, ...closers: readonly string[]): string {
  const ends = closers.map((closer) => {
    const at = text.lastIndexOf(closer);
    return at < 0 ? 0 : at + closer.length;
  });
  return text.slice(0, Math.max(...ends));
}

/** All calls in `text`, or none if one of them cannot be read or was not offered. */
function readCalls(text: string, offered: Offered): FoundCall[] {
  const calls: FoundCall[] = [];
  const invokes = upToLast(text, '</function>', '</invoke>').matchAll(
    /<(?:function=|invoke name=)"?([^"<>\s]+)"?>([\s\S]*?)<\/(?:function|invoke)>/g,
  );
  for (const [, name = '', body = ''] of invokes) {
    const tool = offered.get(name);
    if (tool === undefined) return [];
    calls.push({ name, input: readParameters(body, tool) });
  }
  if (calls.length > 0) return calls;
  const inner = text
    .replace(/^<tool_call>/, '')
    .replace(/<\/tool_call>$/, '')
    .trim();
  const call = readJsonCall(inner) ?? readArgKeys(inner, offered);
  return call !== undefined && offered.has(call.name) ? [call] : [];
}

/** `{"name": "Read", "arguments": {…}}`, the arguments perhaps as a string. */
function readJsonCall(text: string): FoundCall | undefined {
  const value = parse(text);
  if (!isObject(value) || typeof value['name'] !== 'string') return undefined;
  const given = value['arguments'] ?? value['parameters'] ?? {};
  const input = typeof given === 'string' ? parse(given) : given;
  return isObject(input) ? { name: value['name'], input } : undefined;
}

/** `<parameter=path>…</parameter>` or `<parameter name="path">…</parameter>`. */
function readParameters(body: string, tool: OfferedTool): JsonObject {
  const input: JsonObject = {};
  for (const [, name = '', value = ''] of upToLast(body, '</parameter>').matchAll(
    /<parameter(?:=| name=)"?([^"<>\s]+)"?[^>]*>([\s\S]*?)<\/parameter>/g,
  )) {
    input[name] = readValue(name, value, tool);
  }
  return input;
}

/** GLM: the name on the first line, then pairs of keys and values. */
function readArgKeys(text: string, offered: Offered): FoundCall | undefined {
  const name = /^[^\s<]+/.exec(text)?.[0] ?? '';
  const tool = offered.get(name);
  if (tool === undefined) return undefined;
  const input: JsonObject = {};
  for (const [, key = '', value = ''] of upToLast(text, '</arg_value>').matchAll(
    /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g,
  )) {
    input[key.trim()] = readValue(key.trim(), value, tool);
  }
  return { name, input };
}

/** Tags carry text only; what the schema calls text stays so, the rest is JSON where it can be. */
function readValue(name: string, text: string, tool: OfferedTool): unknown {
  const value = text.replace(/^\n/, '').replace(/\n$/, '');
  if (tool.strings.has(name)) return value;
  const parsed = parse(value.trim());
  return parsed === undefined ? value : parsed;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
