import { describe, expect, it } from 'vitest';
import { readPasted } from './pasted-servers.js';
import { configOf } from './server-form.js';

const GITHUB = { command: 'npx', args: ['-y', 'server-github'], env: { TOKEN: 'x', PORT: 1 } };
const configs = (text: string) => {
  const pasted = readPasted(text);
  if ('problem' in pasted) return pasted.problem;
  return pasted.servers.map(({ form, left }) => ({ name: form.name, left, ...configOf(form) }));
};

describe('pasted JSON', () => {
  const expected = {
    ...{ type: 'stdio', command: 'npx', args: ['-y', 'server-github'], env: { TOKEN: 'x', PORT: '1' } },
    left: [],
  };
  it.each([
    ['as a whole file', JSON.stringify({ mcpServers: { github: GITHUB } }), 'github'],
    ['of this gateway', JSON.stringify({ mcp_servers: { github: GITHUB } }), 'github'],
    ['as the section', JSON.stringify({ github: GITHUB }), 'github'],
    ['without the braces around it', `"github": ${JSON.stringify(GITHUB)},`, 'github'],
    ['as the server alone', JSON.stringify(GITHUB), ''],
  ])('fills the form: %s', (_how, text, name) => {
    expect(configs(text)).toEqual([{ name, ...expected }]);
  });

  it('has every server that is on, of any transport, and names what the form cannot take', () => {
    const mcpServers = {
      off: { command: 'x', disabled: true },
      web: { url: 'https://example.com/mcp', headers: { A: 'b' }, autoApprove: ['read'] },
      old: { type: 'sse', url: 'https://example.com/sse', shared: false, timeout_s: 5 },
      newer: { type: 'streamable-http', url: 'https://example.com/mcp' },
    };
    expect(configs(JSON.stringify({ mcpServers }))).toEqual([
      {
        name: 'web',
        left: ['autoApprove'],
        type: 'http',
        url: 'https://example.com/mcp',
        headers: { A: 'b' },
      },
      {
        ...{ name: 'old', left: [], type: 'sse', url: 'https://example.com/sse', headers: {} },
        ...{ shared: false, timeout_s: 5 },
      },
      { name: 'newer', left: [], type: 'http', url: 'https://example.com/mcp', headers: {} },
    ]);
  });

  it.each([
    ['npx -y server', 'json'],
    ['[1, 2]', 'json'],
    ['{"mcpServers": []}', 'no-servers'],
    ['{"mcpServers": {"a": 7}}', 'no-servers'],
    ['{"mcpServers": {"a": {"command": "x", "disabled": true}}}', 'disabled'],
    ['{"mcpServers": {"a": {"command": "x"}}, "mcp_servers": {"a": {"command": "y"}}}', 'no-servers'],
  ])('is refused: %s', (text, problem) => {
    expect(configs(text)).toBe(problem);
  });
});
