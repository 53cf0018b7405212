import { describe, expect, it } from 'vitest';
import { queuesOnEnter, sendsOnEnter } from './send-key.js';

const NONE = {
  shiftKey: false,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  isComposing: false,
  keyCode: 13,
};

describe('Enter', () => {
  it('sends, and makes a new line with Shift', () => {
    expect(sendsOnEnter({ key: 'Enter', ...NONE }, true)).toBe(true);
    expect(sendsOnEnter({ key: 'Enter', ...NONE, shiftKey: true }, true)).toBe(false);
    expect(sendsOnEnter({ key: 'a', ...NONE }, true)).toBe(false);
  });

  it('belongs to the input method while it composes', () => {
    expect(sendsOnEnter({ key: 'Enter', ...NONE, isComposing: true }, true)).toBe(false);
    expect(sendsOnEnter({ key: 'Enter', ...NONE, keyCode: 229 }, true)).toBe(false);
  });

  it('is a new line where there is no keyboard, unless Control goes with it', () => {
    expect(sendsOnEnter({ key: 'Enter', ...NONE }, false)).toBe(false);
    expect(sendsOnEnter({ key: 'Enter', ...NONE, ctrlKey: true }, false)).toBe(true);
  });

  it('with Alt is for after the turn', () => {
    expect(queuesOnEnter({ key: 'Enter', ...NONE, altKey: true })).toBe(true);
    expect(queuesOnEnter({ key: 'Enter', ...NONE })).toBe(false);
    expect(queuesOnEnter({ key: 'Enter', ...NONE, altKey: true, isComposing: true })).toBe(false);
    expect(sendsOnEnter({ key: 'Enter', ...NONE, altKey: true }, true)).toBe(false);
  });
});
