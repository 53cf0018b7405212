import { describe, expect, it } from 'vitest';
import { OwnedIds } from './owned-ids.js';

const [a, b] = [new OwnedIds('secret', 'host/1/2/a'), new OwnedIds('secret', 'host/1/3/b')];

describe('an id of what one node has', () => {
  it('names that node to the others, and not in words', () => {
    const id = a.issue('alice');
    expect(b.read(id, 'alice')).toBe(b.markOf('host/1/2/a'));
    expect(b.read(id, 'alice')).not.toBe(b.markOf('host/1/3/b'));
    expect(id).not.toContain('host');
    expect(a.issue('alice')).not.toBe(id);
  });

  it('is none of another key, of another cluster, or with another node in it', () => {
    const id = a.issue('alice');
    expect(b.read(id, 'bob')).toBeUndefined();
    expect(new OwnedIds('another', 'host/1/2/a').read(id, 'alice')).toBeUndefined();
    const marked = id.replace(a.markOf('host/1/2/a'), a.markOf('host/1/3/b'));
    expect(b.read(marked, 'alice')).toBeUndefined();
  });

  it('is nothing that merely looks like one', () => {
    for (const id of ['', 'x', 'é'.repeat(40), '-'.repeat(40), `${a.issue('alice')}x`]) {
      expect(b.read(id, 'alice')).toBeUndefined();
    }
  });
});
