import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TYPED_TOOLS, typedTool, whyNotOffered } from './typed-tools.js';

const sdkTypes = (specifier: string): string =>
  readFileSync(fileURLToPath(import.meta.resolve(specifier)).replace(/\.m?js$/, '.d.ts'), 'utf8');

/** The declaration of one interface or type. */
function declaration(source: string, name: string): string {
  const found = new RegExp(`export (?:interface|type) ${name}\\b[^]*?\\n}|export type ${name} = [^;]*;`).exec(
    source,
  );
  if (found === null) throw new Error(`The SDK has no ${name}.`);
  return found[0];
}

describe('typed tools that the client runs', () => {
  const messages = sdkTypes('@anthropic-ai/sdk/resources/beta/messages/messages.js');
  const union = /export type BetaClientToolUnion = ([^;]*);/.exec(messages)?.[1] ?? '';
  const members = union.split('|').map((each) => each.trim());

  it.each(members.filter((name) => name !== 'BetaTool' && !name.includes('Toolset')))(
    "the SDK's %s is in the table, with the name that its calls carry",
    (name) => {
      const source = declaration(messages, name);
      const kind = /type: '([^']+)'/.exec(source)?.[1] ?? '';
      expect(TYPED_TOOLS['anthropic-messages']?.[kind]?.name).toBe(/name: '([^']+)'/.exec(source)?.[1]);
    },
  );

  it.each(['memory_20250818'])('%s takes what the SDK says of its commands', (kind) => {
    const schema = JSON.stringify(TYPED_TOOLS['anthropic-messages']?.[kind]?.inputSchema);
    for (const command of ['View', 'Create', 'StrReplace', 'Insert', 'Delete', 'Rename']) {
      const source = declaration(messages, `BetaMemoryTool20250818${command}Command`);
      for (const [, field = ''] of source.matchAll(/^ {4}(\w+)\??:/gm))
        expect(schema).toContain(`"${field}"`);
      expect(schema).toContain(`"${/command: '(\w+)'/.exec(source)?.[1]}"`);
    }
  });

  it('a screen is as large as its definition says, and is zoomed only where that is on', () => {
    const screen = {
      type: 'computer_20251124',
      name: 'computer',
      display_width_px: 1024,
      display_height_px: 768,
    };
    const tool = typedTool('anthropic-messages', screen);
    expect(tool?.description).toMatch(/1024 pixels wide.*768 pixels high/);
    expect(tool?.typed.value).toEqual(screen);
    expect(JSON.stringify(tool?.inputSchema)).not.toContain('zoom');
    const zooming = typedTool('anthropic-messages', { ...screen, enable_zoom: true });
    expect(JSON.stringify(zooming?.inputSchema)).toContain('"zoom"');
  });

  it.each([
    ['without an environment', {}, true],
    ['with null', { environment: null }, true],
    ['here', { environment: { type: 'local' } }, true],
    ['in a container', { environment: { type: 'container_auto' } }, false],
    [
      'in a container that there is',
      { environment: { type: 'container_reference', container_id: 'c' } },
      false,
    ],
  ])("a shell %s is the client's: %j %s", (_where, more, clients) => {
    expect(typedTool('openai-responses', { type: 'shell', ...more }) !== undefined).toBe(clients);
  });

  it('the skills of a shell are told', () => {
    const skills = [{ name: 'pdf', description: 'Reads PDF', path: '/skills/pdf' }];
    const tool = typedTool('openai-responses', { type: 'shell', environment: { type: 'local', skills } });
    expect(tool?.description).toContain('pdf (/skills/pdf): Reads PDF');
  });

  it('what a provider runs is no tool of the client', () => {
    expect(
      typedTool('anthropic-messages', { type: 'web_search_20250305', name: 'web_search' }),
    ).toBeUndefined();
    expect(typedTool('openai-chat', { type: 'shell' })).toBeUndefined();
    expect(typedTool('anthropic-messages', { type: 'constructor' })).toBeUndefined();
  });

  it.each([
    ['computer_toolset_20260801', 'is a set of tools that only anthropic-messages knows'],
    ['browser_toolset_20260801', 'is a set of tools that only anthropic-messages knows'],
    ['mcp_toolset', 'is run by its provider'],
    ['web_search_20260318', 'is run by its provider'],
  ])('why %s is not offered elsewhere is true', (kind, reason) => {
    const tool = { dialect: 'anthropic-messages', kind, name: 'x', value: {} } as const;
    expect(whyNotOffered(tool, `${kind} is run by its provider`)).toBe(`${kind} ${reason}`);
  });
});
