/** What the console is told about tools. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../src/config/schema.js';
import type { KeyOptions } from '../../src/server/access/key-ring.js';
import { createBuiltIns } from '../../src/tools/built-ins.js';
import { createRegistry } from '../../src/tools/runtime/registry.js';
import { SILENT } from '../../src/tools/runtime/runtime.js';
import { fakeTool } from '../support/fake-tools.js';
import { ABOUT, NO_TOOLS, startServer } from './server-harness.js';

const AGENTS = [
  { name: 'coder', tools: 'all' },
  { name: 'reader', tools: ['Read'] },
  { name: 'asked', tools: 'requested' },
  { name: 'none', tools: 'none' },
] as const;

const KEYS: KeyOptions[] = [
  { key: 'key-of-alice', name: 'alice', scopes: ['call', 'admin'], models: ['reader'] },
  { key: 'key-of-bob', name: 'bob', scopes: ['call'], models: ['reader'] },
];

const answer = z.object({ data: z.array(z.looseObject({ name: z.string() })) });

async function listed(key?: string): Promise<Map<string, unknown>> {
  const tools = createRegistry({
    sources: [
      createBuiltIns(configSchema.shape.tools.parse({})),
      {
        source: 'own',
        tools: () => [],
        problems: () => [{ name: 'x.mjs', reason: 'It could not be loaded.' }],
      },
      {
        source: 'mcp',
        tools: () => [fakeTool('mcp__docs__get', { inputJSONSchema: { type: 'object', properties: {} } })],
      },
    ],
    log: SILENT,
  });
  const { url, token } = await startServer({
    tools: { ...NO_TOOLS, list: (asker) => tools.list(asker) },
    about: { ...ABOUT, agents: AGENTS },
    ...(key === undefined ? {} : { keys: KEYS }),
  });
  const response = await fetch(`${url}/api/tools`, { headers: { 'x-api-key': key ?? token } });
  expect(response.status).toBe(200);
  const { data } = answer.parse(await response.json());
  return new Map(data.map((tool) => [tool.name, tool]));
}

describe('GET /api/tools', () => {
  it('shows what is on, with its schema', async () => {
    expect((await listed()).get('Read')).toMatchObject({
      title: expect.any(String),
      description: expect.stringMatching(/./),
      source: 'built-in',
      server: null,
      enabled: true,
      reason: null,
      input_schema: { type: 'object', required: ['file_path'] },
    });
  });

  it('names the models that have it', async () => {
    const tools = await listed();
    expect(tools.get('Read')).toMatchObject({ models: ['coder', 'reader', 'asked'] });
    expect(tools.get('Edit')).toMatchObject({ models: ['coder', 'asked'] });
    expect(tools.get('mcp__docs__get')).toMatchObject({ models: ['coder', 'reader', 'asked', 'none'] });
    expect(tools.get('WebSearch')).toMatchObject({ models: [] });
  });

  it('names no model that the key may not call, unless it has admin', async () => {
    expect((await listed('key-of-bob')).get('Read')).toMatchObject({ models: ['reader'] });
    expect((await listed('key-of-alice')).get('Read')).toMatchObject({
      models: ['coder', 'reader', 'asked'],
    });
  });

  it('shows what is off, with the reason', async () => {
    const tools = await listed();
    expect(tools.get('WebSearch')).toMatchObject({
      enabled: false,
      reason: expect.stringContaining('tools.web_search'),
    });
    expect(tools.get('x.mjs')).toMatchObject({
      source: 'own',
      enabled: false,
      reason: 'It could not be loaded.',
    });
  });

  it('names the server of an MCP tool', async () => {
    expect((await listed()).get('mcp__docs__get')).toMatchObject({
      source: 'mcp',
      server: 'docs',
      enabled: true,
    });
  });

  it('is not for strangers', async () => {
    const { url } = await startServer();
    expect((await fetch(`${url}/api/tools`)).status).toBe(401);
  });
});
