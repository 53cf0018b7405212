import { describe, expect, it } from 'vitest';
import { CloseStack, openAll } from './close-stack.js';

/** Parts that say when they are closed; the later ones of `failing` throw. */
function openParts(stack: CloseStack, names: readonly string[], failing: readonly string[] = []): string[] {
  const closed: string[] = [];
  for (const name of names) {
    stack.adopt(name, async (part) => {
      await Promise.resolve();
      closed.push(part);
      if (failing.includes(part)) throw new Error(part);
    });
  }
  return closed;
}

describe('a close stack', () => {
  it('closes in reverse, each part after the one before has closed', async () => {
    const stack = new CloseStack();
    const closed = openParts(stack, ['store', 'sessions', 'server']);
    stack.defer(() => closed.push('signals'));
    await stack.close();
    expect(closed).toEqual(['signals', 'server', 'sessions', 'store']);
  });

  it('closes the rest where a part throws, and throws that then', async () => {
    const stack = new CloseStack();
    const closed = openParts(stack, ['store', 'sessions', 'server'], ['sessions']);
    await expect(stack.close()).rejects.toThrow('sessions');
    expect(closed).toEqual(['server', 'sessions', 'store']);
  });

  it('throws all of what several parts throw', async () => {
    const stack = new CloseStack();
    openParts(stack, ['store', 'sessions', 'server'], ['store', 'server']);
    await expect(stack.close()).rejects.toMatchObject({ errors: [new Error('server'), new Error('store')] });
  });

  it('closes each part once', async () => {
    const stack = new CloseStack();
    const closed = openParts(stack, ['store', 'server']);
    await stack.close();
    await stack.close();
    expect(closed).toEqual(['server', 'store']);
  });
});

describe('opening that fails half way', () => {
  it('closes in reverse what was open, and throws its own error although a part throws too', async () => {
    let closed: string[] = [];
    const opening = openAll(async (stack) => {
      closed = openParts(stack, ['store', 'sessions', 'engines'], ['engines']);
      throw new Error('the port is in use');
    });
    await expect(opening).rejects.toThrow('the port is in use');
    expect(closed).toEqual(['engines', 'sessions', 'store']);
  });

  it('leaves open what was opened whole', async () => {
    const { stack, closed } = await openAll(async (stack) => ({
      stack,
      closed: openParts(stack, ['store']),
    }));
    expect(closed).toEqual([]);
    await stack.close();
    expect(closed).toEqual(['store']);
  });
});
