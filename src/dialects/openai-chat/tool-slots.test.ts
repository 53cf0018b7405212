import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { ToolNames } from '../shared/tool-names.js';
import { ToolSlots } from './tool-slots.js';
import { nameLimits } from './wire.js';

/** The shapes of whole streams are fixtures; here is when a call is passed on. */
function slots() {
  const names = new ToolNames(nameLimits(64));
  names.offer('Read');
  names.offer('ReadFile');
  names.offer('Bash');
  const made = new ToolSlots(names);
  const out: ModelEvent[] = [];
  return {
    out,
    push: (call: JsonObject) => made.push(call, 0, 1, out),
    flush: () => made.flush(out),
  };
}

describe('ToolSlots', () => {
  it('announces a call at once when its name can only be whole', () => {
    const { out, push } = slots();
    push({ index: 0, id: 'a', function: { name: 'Bash', arguments: '' } });
    expect(out).toEqual([{ type: 'tool', key: 0, id: 'a', name: 'Bash' }]);
  });

  it('waits while the name may go on, until the arguments begin', () => {
    const { out, push } = slots();
    push({ index: 0, id: 'a', function: { name: 'Read', arguments: '' } });
    expect(out).toEqual([]);
    push({ index: 0, function: { arguments: '{' } });
    expect(out.map(({ type }) => type)).toEqual(['tool', 'tool-input']);
  });

  it('waits until another call begins, or the answer ends', () => {
    const { out, push, flush } = slots();
    push({ index: 0, id: 'a', function: { name: 'Read' } });
    push({ index: 1, id: 'b', function: { name: 'Unknown' } });
    expect(out).toEqual([{ type: 'tool', key: 0, id: 'a', name: 'Read' }]);
    flush();
    expect(out[1]).toEqual({ type: 'tool', key: 1, id: 'b', name: 'Unknown' });
  });

  it('takes a name that grows with every piece as one name', () => {
    const { out, push } = slots();
    push({ index: 0, id: 'a', function: { name: 'Re' } });
    push({ index: 0, function: { name: 'ReadF' } });
    push({ index: 0, function: { name: 'ReadFile' } });
    expect(out).toEqual([{ type: 'tool', key: 0, id: 'a', name: 'ReadFile' }]);
  });

  it('keeps the elements of one list apart, also where they all have one id', () => {
    const made = new ToolSlots(new ToolNames(nameLimits(64)));
    const out: ModelEvent[] = [];
    made.push({ id: '0', function: { name: 'Bash', arguments: '{}' } }, 0, 2, out);
    made.push({ id: '0', function: { name: 'Read', arguments: '{}' } }, 1, 2, out);
    expect(out.flatMap((event) => (event.type === 'tool' ? [event.name] : []))).toEqual(['Bash', 'Read']);
  });

  it('passes a call on that never got a name', () => {
    const { out, push, flush } = slots();
    push({ index: 0, id: 'a', function: { arguments: '{}' } });
    flush();
    expect(out).toEqual([
      { type: 'tool-input', key: 0, json: '{}' },
      { type: 'tool', key: 0, id: 'a' },
    ]);
  });

  it('closes the free text of a custom call when the next one begins', () => {
    const { out, push, flush } = slots();
    push({ index: 0, id: 'a', type: 'custom', custom: { name: 'x', input: '"' } });
    push({ index: 1, id: 'b', type: 'custom', custom: { name: 'y', input: '' } });
    flush();
    const text = (key: number) =>
      out.map((event) => (event.type === 'tool-input' && event.key === key ? event.json : '')).join('');
    expect(JSON.parse(text(0))).toEqual({ input: '"' });
    expect(JSON.parse(text(1))).toEqual({ input: '' });
  });
});

it('opens very many calls without a look at all those before', () => {
  const { out, push } = slots();
  for (let index = 0; index < 100_000; index++) {
    push({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } });
  }
  expect(out).toHaveLength(200_000);
});
