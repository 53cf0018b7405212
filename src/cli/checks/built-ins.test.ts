import { expect, it } from 'vitest';
import { configSchema } from '../../config/schema.js';
import { checkBuiltIns } from '../doctor.js';

it('counts the tools that are on and names those that are switched off', async () => {
  const [first, ...rest] = await checkBuiltIns(configSchema.parse({}).tools);
  expect(first?.status).toBe('ok');
  expect(first?.finding).toMatch(
    /^\d+ built-ins are on; switched off: WebSearch, Architect, StickerRequest$/,
  );
  expect(rest).toEqual([]);
});

it('does not name what is switched on', async () => {
  const tools = configSchema.parse({ tools: { architect: true, sticker: true, memory: false } }).tools;
  const [first] = await checkBuiltIns(tools);
  expect(first?.finding).toMatch(/switched off: WebSearch, MemoryRead, MemoryWrite$/);
});
