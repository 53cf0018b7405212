import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownParts } from './known-parts.js';

const LISTS = new Set(['messages', 'tools']);
const DEPTH = 20;

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const fresh = (options = {}): KnownParts => new KnownParts(DEPTH, { leastBytes: 0, ...options });
const parse = (known: KnownParts, text: string, owner = 'key'): unknown =>
  known.parse(owner, LISTS, Buffer.from(text));

/** A part is kept when it comes for the second time. */
const learn = (known: KnownParts, text: string, owner = 'key'): unknown => {
  parse(known, text, owner);
  return parse(known, text, owner);
};

function messagesOf(body: unknown): readonly unknown[] {
  const messages =
    typeof body === 'object' && body !== null && 'messages' in body ? body.messages : undefined;
  if (!Array.isArray(messages)) throw new Error('The body has no messages');
  return messages;
}

const message = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });

describe('a body in parts', () => {
  it('is the value that the parser makes of it, seen before or not', () => {
    const known = fresh();
    const element = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
    const body = fc.record(
      { model: fc.string(), messages: fc.array(element), tools: fc.array(element), other: fc.jsonValue() },
      { requiredKeys: ['messages'] },
    );
    fc.assert(
      fc.property(body, fc.constantFrom(0, 1, 3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const expected: unknown = JSON.parse(text);
        for (let time = 0; time < 3; time += 1) {
          const parsed = parse(known, text);
          // A body without a part is left to the parser.
          if (value.messages.length + (value.tools?.length ?? 0) > 0) expect(parsed).toEqual(expected);
          else expect(parsed).toBeUndefined();
        }
      }),
    );
  });

  it('gives the same object for the same bytes, and only for them', () => {
    const known = fresh();
    const [first] = messagesOf(learn(known, JSON.stringify({ messages: [message('a')] })));
    const [again, other] = messagesOf(
      parse(known, JSON.stringify({ messages: [message('a'), message('b')] })),
    );
    expect(again).toBe(first);
    expect(other).toEqual(message('b'));
    const [spaced] = messagesOf(parse(known, JSON.stringify({ messages: [message('a')] }, null, 1)));
    expect(spaced).toEqual(first);
    expect(spaced).not.toBe(first);
  });

  it('finds a part again wherever it stands', () => {
    const known = fresh();
    const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const before = messagesOf(learn(known, JSON.stringify({ messages: texts.map(message) })));
    const turned = messagesOf(
      parse(known, JSON.stringify({ model: 'm', messages: texts.toReversed().map(message) })),
    );
    expect(turned.toReversed().every((each, index) => each === before[index])).toBe(true);
  });

  it('tells two equal parts of one body apart', () => {
    const known = fresh();
    const text = JSON.stringify({ messages: [message('a'), message('b'), message('a')] });
    for (let time = 0; time < 3; time += 1) {
      const messages = messagesOf(parse(known, text));
      expect(messages).toEqual([message('a'), message('b'), message('a')]);
      expect(messages[2]).not.toBe(messages[0]);
    }
  });

  it('never gives one key what another one sent', () => {
    const known = fresh();
    const text = JSON.stringify({ messages: [message('secret')] });
    const [mine] = messagesOf(learn(known, text, 'mine'));
    const [theirs] = messagesOf(learn(known, text, 'theirs'));
    expect(messagesOf(parse(known, text, 'mine'))[0]).toBe(mine);
    expect(theirs).toEqual(mine);
    expect(theirs).not.toBe(mine);
  });

  it('keeps characters beyond ASCII, in parts and between them', () => {
    const known = fresh();
    const value = { user: '名前 🙂', messages: [message('修复 — é'), message('\u2028 \ud83d')] };
    const text = JSON.stringify(value);
    for (let time = 0; time < 3; time += 1) expect(parse(known, text)).toEqual(value);
  });
});

describe('a body that is left to the parser', () => {
  const element = '{"role":"user"}';
  it.each([
    ['no JSON', '{"messages":[{"role":}]}'],
    ['a part that is no JSON', `{"messages":[{"a":tru}]}`],
    ['brackets that do not match', '{"messages":[{"a":[}]}'],
    ['an end too early', `{"messages":[${element}`],
    ['an end inside a string', '{"messages":[{"role":"us'],
    ['a comma too many', `{"messages":[${element},]}`],
    ['more after the end', `{"messages":[${element}]} x`],
    ['white space that is none', `{"messages":[${element},\u0001${element}]}`],
    ['elements that are no objects', `{"messages":[${element},0]}`],
    ['the name of a list written otherwise', `{"mess\\u0061ges":[0],"messages":[${element}]}`],
    ['a list that is named twice', `{"messages":[${element}],"messages":[]}`],
    ['a list in place of an object', `[${element}]`],
    ['a byte order mark', `\ufeff{"messages":[${element}]}`],
    ['nothing', ''],
    ['too deep a part', `{"messages":[{"a":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}]}`],
    ['too deep a field', `{"x":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)},"messages":[${element}]}`],
  ])('is %s', (_what, text) => {
    const known = fresh();
    learn(known, `{"messages":[${element}]}`);
    expect(parse(known, text)).toBeUndefined();
  });

  it('is no UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"messages":[{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}]}'),
    ]);
    expect(fresh().parse('key', LISTS, bytes)).toBeUndefined();
  });

  it('is a small one', () => {
    const known = new KnownParts(DEPTH);
    expect(known.parse('key', LISTS, bytesOf({ messages: [message('a')] }))).toBeUndefined();
    expect(known.parse('key', LISTS, bytesOf({ messages: [message('a'.repeat(5_000))] }))).toBeDefined();
  });

  it('has more elements than a conversation, or smaller ones', () => {
    const known = fresh();
    const bodyOf = (count: number, text: string) => ({
      messages: Array.from({ length: count }, (_, index) => ({ a: `${text}${index}` })),
    });
    expect(known.parse('key', LISTS, bytesOf(bodyOf(100_000, '')))).toBeUndefined();
    expect(known.parse('key', LISTS, bytesOf(bodyOf(5_000, 'x'.repeat(100))))).toBeUndefined();
    expect(known.parse('key', LISTS, bytesOf(bodyOf(4_000, 'x'.repeat(100))))).toBeDefined();
    // Long ones first make no room for many small ones.
    const mixed = { messages: [message('x'.repeat(10_000)), ...bodyOf(2_000, '').messages] };
    expect(known.parse('key', LISTS, bytesOf(mixed))).toBeUndefined();
  });

  it('nests as deep as a body may, and no deeper', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(parse(fresh(), `{"messages":[${nested(DEPTH - 3)}]}`)).toBeDefined();
    expect(parse(fresh(), `{"messages":[${nested(DEPTH - 2)}]}`)).toBeUndefined();
  });
});

describe('the memory of parts', () => {
  const budget = 200_000;
  const long = (name: string) => message(`${name} ${'x'.repeat(1_000)}`);

  it('stays within its budget, whatever is sent', () => {
    const known = fresh({ budget });
    for (let index = 0; index < 1_000; index += 1) {
      // Each of them twice.
      const name = `${Math.floor(index / 2)}`;
      known.parse(`key ${name.at(-1)}`, LISTS, bytesOf({ messages: [long(name), long(`${name} b`)] }));
      expect(known.cost).toBeLessThanOrEqual(budget);
    }
    expect(known.cost).toBeGreaterThan(budget / 2);
  });

  it('parses a body that is larger than all of it', () => {
    const known = fresh({ budget });
    const value = { messages: Array.from({ length: 300 }, (_, index) => long(`${index}`)) };
    for (let time = 0; time < 3; time += 1) {
      expect(known.parse('key', LISTS, bytesOf(value))).toEqual(value);
      expect(known.cost).toBeLessThanOrEqual(budget);
    }
  });

  it('keeps what comes again and forgets what came once', () => {
    const known = fresh({ budget });
    const system = long('system');
    const [first] = messagesOf(learn(known, JSON.stringify({ messages: [system] })));
    for (let index = 0; index < 200; index += 1) {
      learn(known, JSON.stringify({ messages: [long(`other ${index}`)] }));
      const [again] = messagesOf(
        known.parse('key', LISTS, bytesOf({ messages: [system, long(`${index}`)] })),
      );
      expect(again).toBe(first);
    }
  });

  it('of one key gives no way to the many bodies of another', () => {
    const known = fresh({ budget });
    const mine = bytesOf({ messages: [long('mine')] });
    const [first] = messagesOf(learn(known, mine.toString(), 'mine'));
    for (let index = 0; index < 300; index += 1) {
      learn(known, JSON.stringify({ messages: [long(`${index}`)] }), 'theirs');
    }
    expect(messagesOf(known.parse('mine', LISTS, mine))[0]).toBe(first);
  });

  it('keeps nothing of what comes once', () => {
    const known = fresh();
    for (let index = 0; index < 100; index += 1)
      parse(known, JSON.stringify({ messages: [long(`${index}`)] }));
    // A digest each.
    expect(known.cost).toBeLessThan(100 * 200);
  });

  it('counts the memory of small values, not their bytes', () => {
    const known = fresh();
    const count = 10_000;
    learn(
      known,
      JSON.stringify({ messages: [{ content: Array.from({ length: count }, () => ({ 31: 0 })) }] }),
    );
    expect(known.cost).toBeGreaterThan(count * 300);
  });

  it('gives way evenly: the largest loses what is above the others, not all', () => {
    const known = fresh({ budget: 2 * budget });
    const mine = JSON.stringify({ messages: [long('mine a'), long('mine b')] });
    const first = messagesOf(learn(known, mine, 'mine'));
    for (let index = 0; index < 400; index += 1) {
      parse(known, mine, 'mine');
      learn(known, JSON.stringify({ messages: [long(`${index}`)] }), `theirs ${index % 10}`);
    }
    const [again] = messagesOf(parse(known, mine, 'mine'));
    expect(again).toBe(first[0]);
  });

  it('holds many parts that only their middle tells apart', () => {
    const known = fresh();
    const alike = (index: number) =>
      message(`${'x'.repeat(400)}${String(index).padStart(6, '0')}${'y'.repeat(400)}`);
    const value = { messages: Array.from({ length: 100 }, (_, index) => alike(index)) };
    const first = messagesOf(learn(known, JSON.stringify(value)));
    expect(first).toEqual(value.messages);
    const again = messagesOf(known.parse('key', LISTS, bytesOf(value)));
    expect(again.every((each, index) => each === first[index])).toBe(true);
  });
});
