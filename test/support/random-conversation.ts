/**
 * Conversations that go on as agents' do: tools, calls and results, cache breakpoints that move, and
 * now and then a history that was compacted, edited or cut. The same for the same seed.
 */
import type { PartSpec, RequestSpec, TurnSpec } from '../conformance/case-schema.js';
import type { WireName } from '../conformance/dialects.js';
import { Random } from '../faults/random.js';
import { isRecord, type JsonRecord } from './violation.js';

const TEXTS = [
  'Hello',
  'The parser fails.',
  '修复 parser.ts — 🙂',
  '  ',
  'a\nb\t"c" \\ d',
  '\u2028\u0000 end ',
  '[]{}:,',
];
const NAMES = ['Read', 'Bash', 'mcp__files__read', 'Weather', 'a tool with spaces', `long_${'x'.repeat(80)}`];
/** One red pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

export class Conversation {
  readonly #random: Random;
  #turns: TurnSpec[] = [];
  #tools: string[];
  #calls = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#tools = NAMES.filter(() => this.#chance(0.7));
  }

  below(limit: number): number {
    return this.#random.below(limit);
  }

  /** The model answers, tools run, the user says something; sometimes what was before has changed. */
  goOn(): void {
    if (this.#turns.length > 0 && this.#chance(0.12)) this.#rewrite();
    if (this.#chance(0.3)) this.#clearResults();
    if (this.#turns.length > 0) this.#answer();
    if (this.#chance(0.7) || this.#turns.length === 0) this.#turns.push({ user: this.#said() });
    if (this.#chance(0.1)) this.#turns.push({ system: this.#text() });
    if (this.#chance(0.05)) this.#tools = NAMES.filter(() => this.#chance(0.7));
  }

  /** What a client of the wire can say of it. */
  specFor(wire: WireName): RequestSpec {
    const turns = this.#turns.map((turn) => (wire === 'messages' ? turn : withoutErrors(turn)));
    const tools = this.#tools.map((name) => ({
      name,
      description: `${name}: ${TEXTS[name.length % TEXTS.length]}`,
      schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    }));
    return {
      ...(this.#chance(0.9) ? { system: `You are an agent. ${TEXTS[2]}` } : {}),
      turns,
      ...(tools.length > 0 ? { tools } : {}),
      ...(tools.length > 0 && this.#chance(0.1) ? { tool_choice: 'any' as const } : {}),
      ...(this.#chance(0.1) ? { effort: 'low' } : {}),
      ...(this.#chance(0.1) ? { format: { schema: { type: 'object', properties: {} } } } : {}),
    };
  }

  /** What clients of the wire add and move from turn to turn. */
  decorate(wire: WireName, body: JsonRecord): JsonRecord {
    const list: unknown = body[wire === 'responses' ? 'input' : 'messages'];
    if (!Array.isArray(list)) return body;
    if (wire === 'messages') {
      if (typeof body['system'] === 'string' && this.#chance(0.7)) {
        body['system'] = [{ type: 'text', text: body['system'], cache_control: { type: 'ephemeral' } }];
      }
      const last: unknown = list.at(-1);
      const blocks = isRecord(last) ? last['content'] : undefined;
      const block: unknown = Array.isArray(blocks) ? blocks.at(-1) : undefined;
      if (isRecord(block) && this.#chance(0.6)) block['cache_control'] = { type: 'ephemeral' };
    }
    if (wire === 'chat')
      for (const each of list)
        if (isRecord(each) && each['role'] === 'user' && this.#chance(0.02)) each['name'] = 'ann';
    if (wire === 'responses') {
      for (const each of list) this.#decorateItem(each);
      const tools: unknown = body['tools'];
      // A tool that has the name which the namespace would have given to another.
      if (Array.isArray(tools) && this.#chance(0.3)) {
        tools.push({ type: 'function', name: 'world__Weather', parameters: {} });
        tools.push({ type: 'namespace', name: 'world', tools: [{ type: 'function', name: 'Weather' }] });
      }
    }
    return body;
  }

  /** Free text for one tool, a namespace around another. */
  #decorateItem(item: unknown): void {
    if (!isRecord(item)) return;
    if (item['type'] === 'function_call' && item['name'] === 'Bash') {
      Object.assign(item, { type: 'custom_tool_call', input: item['arguments'] });
      delete item['arguments'];
    }
    if (item['type'] === 'function_call' && item['name'] === 'Weather') item['namespace'] = 'world';
    if (item['role'] === 'assistant') Object.assign(item, { id: 'msg_1', status: 'completed' });
  }

  #answer(): void {
    const parts: PartSpec[] = [];
    if (this.#chance(0.25)) parts.push({ thinking: this.#text() });
    if (this.#chance(0.8)) parts.push(this.#text());
    const ids: string[] = [];
    if (this.#chance(0.7)) {
      for (let left = 1 + this.below(3); left > 0; left -= 1) {
        this.#calls += 1;
        const id = this.#chance(0.05) ? `id with spaces ${this.#calls}` : `call_${this.#calls}`;
        ids.push(id);
        parts.push({ call: { id, name: this.#random.pick(NAMES), input: { text: this.#text() } } });
      }
    }
    if (parts.length === 0) parts.push('…');
    this.#turns.push({ assistant: parts });
    if (ids.length === 0) return;
    const answered = this.#chance(0.05) ? ids.slice(1) : ids;
    if (answered.length === 0) return;
    this.#turns.push({ user: answered.map((id) => ({ result: this.#result(id) })) });
  }

  #result(id: string): Extract<PartSpec, { result: unknown }>['result'] {
    const error = this.#chance(0.1) ? { error: true } : {};
    if (this.#chance(0.1)) return { id, ...error };
    if (this.#chance(0.1)) {
      return {
        id,
        content: [{ text: this.#text() }, { image: { type: 'image/png', data: PIXEL } }],
        ...error,
      };
    }
    return { id, content: this.#text(), ...error };
  }

  #rewrite(): void {
    const at = this.below(this.#turns.length);
    if (this.#chance(0.4)) this.#turns = [{ user: `Summary: ${this.#text()}` }, ...this.#turns.slice(at)];
    else if (this.#chance(0.5)) this.#turns = this.#turns.slice(0, at + 1);
    else this.#turns.splice(at, 1, { user: this.#text() });
  }

  /** Agents make room by emptying old results; their calls stay. */
  #clearResults(): void {
    this.#turns = this.#turns.map((turn) => {
      if (typeof turn === 'string' || !('user' in turn) || typeof turn.user === 'string') return turn;
      if (this.#chance(0.5)) return turn;
      return {
        user: turn.user.map((part) =>
          typeof part === 'string' || !('result' in part)
            ? part
            : { result: { ...part.result, content: '[cleared]' } },
        ),
      };
    });
  }

  #said(): string | PartSpec[] {
    if (this.#chance(0.5)) return this.#text();
    return this.#chance(0.2)
      ? [this.#text(), { image: { type: 'image/png', data: PIXEL } }]
      : [this.#text(), this.#text()];
  }

  #text(): string {
    const text = this.#random.pick(TEXTS);
    return this.#chance(0.2) ? text.repeat(20) : `${text} ${this.below(50)}`;
  }

  #chance(probability: number): boolean {
    return this.#random.chance(probability);
  }
}

function withoutErrors(turn: TurnSpec): TurnSpec {
  if (typeof turn === 'string' || !('user' in turn) || typeof turn.user === 'string') return turn;
  return {
    user: turn.user.map((part) => {
      if (typeof part === 'string' || !('result' in part)) return part;
      const { error: _, ...result } = part.result;
      return { result };
    }),
  };
}
