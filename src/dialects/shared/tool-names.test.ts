import { describe, expect, it } from 'vitest';
import { fitId, fitName, ToolNames } from './tool-names.js';

const LIMITS = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

describe('fitName', () => {
  it('keeps a name that fits', () => {
    expect(fitName('Read', LIMITS)).toBe('Read');
  });

  it('shortens and cleans with a hash, the same every time', () => {
    const long = `mcp__${'x'.repeat(80)}`;
    const fitted = fitName(long, LIMITS);
    expect(fitted).toHaveLength(64);
    expect(fitted).toMatch(LIMITS.pattern);
    expect(fitName(long, LIMITS)).toBe(fitted);
    expect(fitName(`${long}y`, LIMITS)).not.toBe(fitted);
    expect(fitName('a.b', LIMITS)).toMatch(/^a_b_[0-9a-f]{8}$/);
  });
});

describe('fitId', () => {
  it('keeps what fits and shortens the rest the same way every time', () => {
    expect(fitId('functions.Bash:0', 40)).toBe('functions.Bash:0');
    expect(fitId('x'.repeat(1324), 40)).toHaveLength(40);
    expect(fitId('x'.repeat(1324), 40)).toBe(fitId('x'.repeat(1324), 40));
    expect(fitId('', 40)).not.toBe('');
  });

  it('makes ids of exactly nine letters and digits where that is the limit', () => {
    expect(fitId('abcDEF123', 9)).toBe('abcDEF123');
    for (const id of ['call_1', 'toolu_0123456789', '']) expect(fitId(id, 9)).toMatch(/^[a-zA-Z0-9]{9}$/);
  });
});

describe('ToolNames', () => {
  it('maps a name there and back', () => {
    const names = new ToolNames(LIMITS);
    const wire = names.encode('my tool');
    expect(wire).not.toBe('my tool');
    expect(names.decode(wire)).toBe('my tool');
    expect(names.decode('Read')).toBe('Read');
  });

  it('keeps a name that the model made up within the limits', () => {
    const names = new ToolNames(LIMITS);
    names.offer('Read');
    expect(names.decode('functions.Read')).toMatch(/^functions_Read_[0-9a-f]{8}$/);
    expect(names.decode('Write')).toBe('Write');
    expect(names.decode('')).toBe('');
  });

  it('knows what was offered and when a name is whole', () => {
    const names = new ToolNames(LIMITS);
    names.offer('Read');
    names.offer('ReadFile', new Set(['path']));
    expect(names.isWhole('ReadFile')).toBe(true);
    expect(names.isWhole('Read')).toBe(false);
    expect(names.isWhole('Write')).toBe(false);
    expect(names.offered.get('ReadFile')?.strings.has('path')).toBe(true);
  });
});
