import { expect, it } from 'vitest';
import { ChangeListeners } from './change-listeners.js';
import type { McpServerChange } from './mcp-client.js';

it('tells everyone, also after one that throws, until they have enough', () => {
  const warned: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    warn: (_facts: object, text: string) => void warned.push(text),
  };
  const listeners = new ChangeListeners(log);
  const heard: McpServerChange[] = [];
  listeners.add(() => {
    throw new Error('bug');
  });
  const stop = listeners.add((change) => heard.push(change));
  listeners.tell({ name: 'docs', state: 'connected' });
  stop();
  listeners.tell({ name: 'docs', state: 'failed' });
  expect(heard).toEqual([{ name: 'docs', state: 'connected' }]);
  expect(warned).toHaveLength(2);
});
