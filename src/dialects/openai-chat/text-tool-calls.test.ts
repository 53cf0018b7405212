import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelEvent } from '../../core/events.js';
import { ToolNames } from '../shared/tool-names.js';
import { TextToolCalls } from './text-tool-calls.js';
import { nameLimits } from './wire.js';

function run(pieces: readonly string[]): string {
  const names = new ToolNames(nameLimits(64));
  names.offer('Bash', new Set(['command']));
  names.offer('get_weather', new Set(['city']));
  const calls = new TextToolCalls(names);
  const out: ModelEvent[] = [];
  for (const piece of pieces) calls.push(piece, out);
  calls.flush(out);
  let sketch = '';
  for (const event of out) {
    if (event.type === 'text') sketch += event.text;
    else if (event.type === 'tool') sketch += `[${event.name} `;
    else if (event.type === 'tool-input') sketch += event.json;
    else if (event.type === 'tool-end') sketch += ']';
  }
  return sketch;
}

const cases: [string, string, string][] = [
  ['plain text', 'a < b and <b>bold</b>', 'a < b and <b>bold</b>'],
  [
    'Hermes and Qwen',
    'Sure.<tool_call>\n{"name": "Bash", "arguments": {"command": "ls"}}\n</tool_call>',
    'Sure.[Bash {"command":"ls"}]',
  ],
  [
    'arguments as a string',
    '<tool_call>{"name":"Bash","arguments":"{\\"command\\":\\"ls\\"}"}</tool_call>',
    '[Bash {"command":"ls"}]',
  ],
  [
    'Qwen Coder',
    '<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>',
    '[get_weather {"city":"Paris","days":3}]',
  ],
  [
    'without the wrapper',
    '<function=Bash><parameter=command>5</parameter></function> ok',
    '[Bash {"command":"5"}] ok',
  ],
  [
    'invoke',
    '<function_calls><invoke name="Bash"><parameter name="command">ls</parameter></invoke><invoke name="Bash"><parameter name="command">pwd</parameter></invoke></function_calls>',
    '[Bash {"command":"ls"}][Bash {"command":"pwd"}]',
  ],
  [
    'GLM',
    '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>',
    '[get_weather {"city":"Rome","days":2}]',
  ],
  ['not closed', '<tool_call>{"name":"Bash","arguments":{}}', '[Bash {}]'],
  [
    'a tool that was not offered',
    'x <tool_call>{"name":"rm","arguments":{}}</tool_call> y',
    'x <tool_call>{"name":"rm","arguments":{}}</tool_call> y',
  ],
  [
    'a tool that was not offered beside one that was',
    '<function_calls><invoke name="Bash"></invoke><invoke name="rm"></invoke></function_calls>',
    '<function_calls><invoke name="Bash"></invoke><invoke name="rm"></invoke></function_calls>',
  ],
  ['not a call', '<tool_call>hello</tool_call>', '<tool_call>hello</tool_call>'],
  ['an opener alone', 'the tag <tool_call', 'the tag <tool_call'],
];

describe('TextToolCalls', () => {
  it.each(cases)('%s', (_name, source, sketch) => {
    expect(run([source])).toBe(sketch);
  });

  it('reads the same in any pieces', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cases), fc.integer({ min: 1, max: 9 }), ([, source, sketch], length) => {
        const pieces = source.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? [];
        expect(run(pieces)).toBe(sketch);
      }),
    );
  });

  it('passes text on as soon as it cannot be a call', () => {
    const calls = new TextToolCalls(new ToolNames(nameLimits(64)));
    const out: ModelEvent[] = [];
    calls.push('a <t', out);
    expect(out).toEqual([{ type: 'text', text: 'a ' }]);
    calls.push('able>', out);
    expect(out[1]).toEqual({ type: 'text', text: '<table>' });
  });

  // Each of these would take hours if every opener were searched for its end.
  it.each([
    ['functions', `<tool_call>${'<function=Bash>'.repeat(200_000)}</tool_call>`],
    ['names', `<tool_call>${'<function=Bash'.repeat(200_000)} </function></tool_call>`],
    ['parameters', `<function=none>${'<parameter=x>'.repeat(200_000)}</function>`],
    ['pairs', `<tool_call>Bash${'<arg_key></arg_key>'.repeat(150_000)}</arg_value></tool_call>`],
  ])('reads a long text of unfinished %s once', (_name, source) => {
    expect(run([source]).length).toBeGreaterThan(0);
  });

  it('does not look at all of a long call again for each of its pieces', () => {
    const piece = 'a'.repeat(20);
    expect(run(['<tool_call>', ...Array.from({ length: 190_000 }, () => piece)]).length).toBe(
      '<tool_call>'.length + 190_000 * piece.length,
    );
  });
});
