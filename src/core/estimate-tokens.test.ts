import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, ConversationRequest, Message, ToolDefinition } from './conversation.js';
import { estimateRequestTokens, estimateTextTokens } from './estimate-tokens.js';
import { share } from './shared-values.js';

/** `real` is the count of the vocabulary o200k_base. */
const SAMPLES: readonly { name: string; real: number; text: string }[] = [
  {
    name: 'English prose',
    real: 94,
    text: `The harbour was quiet when the first boats came back. Nobody on the pier spoke; they watched the
lanterns swing and counted the masts, because one of them had been missing since Tuesday. Later, over
coffee that had gone cold twice, the harbour master wrote everything down: the wind, the hour, and the
names of the people who had waited. "It isn't much of a record," she said, "but somebody will want it."`,
  },
  {
    name: 'TypeScript',
    real: 98,
    text: `export async function readLines(path: string, options: { limit?: number } = {}): Promise<string[]> {
  const handle = await open(path, 'r');
  try {
    const lines: string[] = [];
    for await (const line of handle.readLines()) {
      if (options.limit !== undefined && lines.length >= options.limit) break;
      lines.push(line.trimEnd());
    }
    return lines;
  } finally {
    await handle.close();
  }
}`,
  },
  {
    name: 'Python',
    real: 105,
    text: `def histogram(values, bins=10):
    low, high = min(values), max(values)
    width = (high - low) / bins or 1
    counts = [0] * bins
    for value in values:
        index = min(int((value - low) / width), bins - 1)
        counts[index] += 1
    return {f"{low + i * width:.2f}": n for i, n in enumerate(counts) if n > 0}
`,
  },
  {
    name: 'JSON',
    real: 99,
    text: '{"id":"ord_18832","status":"shipped","items":[{"sku":"A-100","quantity":2,"price":19.95},{"sku":"B-7","quantity":1,"price":5}],"customer":{"name":"Dana Field","email":"dana@example.com","address":{"city":"Lyon","zip":"69002"}},"createdAt":"2024-03-18T09:30:00Z","notes":null,"gift":false}',
  },
  {
    name: 'Chinese prose',
    real: 94,
    text: '清晨的码头还很安静，第一批渔船刚刚回来。没有人说话，大家都望着摇晃的灯笼，数着桅杆，因为有一艘船从星期二起就没有消息。后来，港务长把一切都写了下来：风向、时间，还有那些等待的人的名字。她说：“这算不上什么记录，但总会有人需要它。”',
  },
  {
    name: 'Chinese with code words',
    real: 49,
    text: '请先运行 `npm install` 安装依赖，然后把 config.json 里的 timeout 改成 30 秒。如果启动失败，请检查端口 3000 是否被占用，并查看 logs/error.log 里的最后几行。',
  },
  {
    name: 'Japanese',
    real: 50,
    text: '朝の港はまだ静かで、最初の漁船が戻ってきたところだった。誰も口をきかず、揺れる灯りを見つめ、マストの数を数えていた。',
  },
  {
    name: 'Russian',
    real: 42,
    text: 'Утром в гавани было тихо, когда вернулись первые лодки. Никто на причале не говорил; все смотрели на качающиеся фонари и считали мачты.',
  },
  {
    name: 'log lines',
    real: 109,
    text: `2024-05-03 12:41:07,118 INFO  [worker-3] GET /api/users/5521 took 38ms status=200 ip=10.0.14.201
2024-05-03 12:41:07,620 WARN  [worker-1] retrying upstream after 250ms (attempt 2 of 5)
2024-05-03 12:41:08,004 ERROR [worker-1] upstream closed the connection: ECONNRESET`,
  },
];

function request(over: Partial<ConversationRequest>): ConversationRequest {
  return {
    model: 'm',
    system: [],
    messages: [],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
    ...over,
  };
}

const ofBlocks = (...content: Block[]): number =>
  estimateRequestTokens(request({ messages: [{ role: 'user', content }] }));

const EMPTY = ofBlocks();

describe('estimateTextTokens', () => {
  it.each(SAMPLES)(
    '$name: not more than a tenth below the real count, nor a third above',
    ({ real, text }) => {
      const estimate = estimateTextTokens(text);
      expect(estimate).toBeGreaterThanOrEqual(real * 0.9);
      expect(estimate).toBeLessThanOrEqual(real * 1.34);
    },
  );

  it('is 0 for no text and at least 1 for any', () => {
    expect(estimateTextTokens('')).toBe(0);
    for (const text of ['a', ' ', '\n', '1', '中', '😀', '.'])
      expect(estimateTextTokens(text)).toBeGreaterThan(0);
  });

  it('reads a long text by samples and stays near the sum of its parts', () => {
    for (const { text } of SAMPLES) {
      const times = Math.ceil(60_000 / text.length);
      const whole = estimateTextTokens(`${text}\n`.repeat(times));
      const parts = estimateTextTokens(`${text}\n`) * times;
      expect(Math.abs(whole / parts - 1)).toBeLessThan(0.1);
    }
  });

  it('sees a part in another script in a long text', () => {
    const english = 'All of this is ordinary prose in English. '.repeat(500);
    const chinese = '这一部分是中文，每个字都要单独计算。'.repeat(500);
    const both = estimateTextTokens(english + chinese);
    expect(both / (estimateTextTokens(english) + estimateTextTokens(chinese))).toBeCloseTo(1, 1);
  });
});

describe('estimateRequestTokens', () => {
  const text = (value: string): Block => ({ type: 'text', text: value });
  const prose = SAMPLES[0]?.text ?? '';

  it.each<{ name: string; block: Block; least: number }>([
    { name: 'text', block: text(prose), least: 80 },
    { name: 'thinking', block: { type: 'thinking', thinking: prose }, least: 80 },
    { name: 'redacted thinking', block: { type: 'redacted_thinking', data: 'QUJD'.repeat(40) }, least: 20 },
    {
      name: 'a tool call',
      block: { type: 'tool_use', id: 't', name: 'write_file', input: { path: 'a.txt', content: prose } },
      least: 90,
    },
    {
      name: 'a tool result',
      block: {
        type: 'tool_result',
        toolUseId: 't',
        content: [{ type: 'text', text: prose }],
        isError: false,
      },
      least: 85,
    },
    {
      name: 'an opaque block',
      block: { type: 'opaque', dialect: 'anthropic-messages', kind: 'search', value: { query: prose } },
      least: 80,
    },
    {
      name: 'a text document',
      block: {
        type: 'document',
        source: { type: 'text', mediaType: 'text/plain', data: prose },
        title: 'Log',
      },
      least: 80,
    },
  ])('counts $name', ({ block, least }) => {
    expect(ofBlocks(block) - EMPTY).toBeGreaterThanOrEqual(least);
  });

  it('counts an image by its area, scaled down, and one of unknown size as a large one', () => {
    const tokens = (width: number, height: number): number =>
      ofBlocks({
        type: 'image',
        source: { type: 'base64', mediaType: 'image/png', data: png(width, height) },
      }) - EMPTY;
    expect(tokens(750, 1000)).toBe(1001);
    expect(tokens(10, 10)).toBe(86);
    expect(tokens(8000, 800)).toBeLessThan(400);
    expect(tokens(8000, 8000)).toBe(1601);
    expect(
      ofBlocks({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }) - EMPTY,
    ).toBe(1601);
    expect(
      ofBlocks({ type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }) - EMPTY,
    ).toBe(1601);
  });

  it('counts a document by its bytes, within bounds', () => {
    const tokens = (base64: string, mediaType: string): number =>
      ofBlocks({ type: 'document', source: { type: 'base64', mediaType, data: base64 } }) - EMPTY;
    expect(tokens('A'.repeat(400), 'application/pdf')).toBe(1501);
    expect(tokens('A'.repeat(400_000), 'application/pdf')).toBeGreaterThan(15_000);
    expect(tokens('A'.repeat(4_000_000), 'application/pdf')).toBeGreaterThan(100_000);
    expect(tokens('A'.repeat(40_000_000), 'application/pdf')).toBe(300_001);
    expect(tokens('A'.repeat(1000), 'text/csv')).toBe(216);
    expect(ofBlocks({ type: 'document', source: { type: 'file', fileId: 'f' } }) - EMPTY).toBe(1501);
  });

  it('counts system, tools with their schemas, server tools and the output schema', () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string', description: prose }, days: { type: 'integer', minimum: 1 } },
      required: ['city'],
    };
    const tool: ToolDefinition = { name: 'get_weather', description: 'The weather.', inputSchema: schema };
    const base = estimateRequestTokens(request({}));
    expect(
      estimateRequestTokens(request({ system: [{ type: 'text', text: prose }] })) - base,
    ).toBeGreaterThan(80);
    expect(estimateRequestTokens(request({ tools: [tool] })) - base).toBeGreaterThan(120);
    const format = { type: 'json_schema', schema } as const;
    expect(estimateRequestTokens(request({ format })) - base).toBeGreaterThan(100);
    const server = {
      dialect: 'anthropic-messages',
      kind: 'web_search_20250305',
      name: 'web_search',
      value: { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
    } as const;
    expect(estimateRequestTokens(request({ providerTools: [server] })) - base).toBeGreaterThan(20);
  });

  it('counts a schema about as its compact JSON', () => {
    const inputSchema = {
      type: 'object',
      properties: Object.fromEntries(
        ['file_path', 'offset', 'limit', 'encoding'].map((name) => [
          name,
          { type: 'string', description: `The ${name} of the file that is to be read from disk.` },
        ]),
      ),
      required: ['file_path'],
      additionalProperties: false,
    };
    const base = estimateRequestTokens(request({}));
    const walked =
      estimateRequestTokens(request({ format: { type: 'json_schema', schema: inputSchema } })) - base;
    const written = estimateTextTokens(JSON.stringify(inputSchema));
    expect(walked / written).toBeGreaterThan(0.9);
    expect(walked / written).toBeLessThan(1.35);
  });

  it('grows with every message', () => {
    const messages: ConversationRequest['messages'] = [];
    let last = estimateRequestTokens(request({ messages }));
    for (let turn = 0; turn < 50; turn++) {
      messages.push({
        role: turn % 2 === 0 ? 'user' : 'assistant',
        content: [text(`Turn ${turn}. ${prose}`)],
      });
      const next = estimateRequestTokens(request({ messages }));
      expect(next).toBeGreaterThan(last + 60);
      last = next;
    }
  });

  it('weighs a message of a history once, as long as it is the same object', () => {
    let reads = 0;
    const known = (index: number): Message => {
      const content = [text(`Turn ${index}. ${prose}`)];
      const message: Message = {
        role: 'user',
        get content() {
          reads += 1;
          return content;
        },
      };
      return share(message);
    };
    const messages = Array.from({ length: 200 }, (_, index) => known(index));
    const first = estimateRequestTokens(request({ messages }));
    const readFirst = reads;
    expect(readFirst).toBeGreaterThan(200);
    expect(estimateRequestTokens(request({ messages }))).toBe(first);
    expect(reads - readFirst).toBeLessThan(200 / 4);
  });

  it('survives JSON of any shape and depth', () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 20_000; level++) deep = { deep };
    expect(ofBlocks({ type: 'tool_use', id: 't', name: 'n', input: deep })).toBeGreaterThan(EMPTY);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
        const tokens = ofBlocks({ type: 'tool_use', id: 't', name: 'n', input });
        expect(Number.isInteger(tokens) && tokens > EMPTY).toBe(true);
      }),
    );
  });
});

/** The first bytes of a PNG, as base64. */
function png(width: number, height: number): string {
  const bytes = Buffer.alloc(33);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(bytes);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString('base64');
}
