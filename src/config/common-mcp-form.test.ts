import { describe, expect, it } from 'vitest';
import { loadConfigText } from './load.js';

const load = (text: string) => loadConfigText(text, { baseDir: '/', env: { TOKEN: 'secret-token' } });

describe('MCP servers as other programs write them', () => {
  it('become servers of ours, whatever says what they are', async () => {
    const { config } = await load(
      JSON.stringify({
        mcpServers: {
          files: { command: 'npx', args: ['-y', 'x'], env: { KEY: `\${TOKEN}` } },
          web: { url: 'https://example.com/mcp', headers: { Authorization: `Bearer \${TOKEN}` } },
          old: { type: 'sse', url: 'https://example.com/sse' },
          off: { command: 'x', disabled: true },
          on: { command: 'x', disabled: false },
        },
        mcp_servers: { own: { command: 'y' } },
      }),
    );
    expect(config.mcp_servers).toMatchObject({
      own: { type: 'stdio', command: 'y' },
      files: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { KEY: 'secret-token' } },
      web: { type: 'http', headers: { Authorization: 'Bearer secret-token' } },
      old: { type: 'sse' },
      on: { type: 'stdio' },
    });
    expect(Object.keys(config.mcp_servers)).not.toContain('off');
  });

  it.each([
    [
      'mcpServers:\n  a: { command: x, autoApprove: [read] }\n',
      'toolgate.yaml:2:20  mcpServers.a.autoApprove: ',
    ],
    ['mcpServers:\n  a__b: { command: x }\n', 'mcpServers.a__b: expected a name'],
    ['mcpServers: [a]\n', 'mcpServers: expected servers by their names'],
    ['mcpServers:\n  a: 7\n', 'mcpServers.a: '],
    ['mcpServers:\n  a: { }\n', 'mcpServers.a.type: '],
    ['mcpServers:\n  a: { url: "ftp://x" }\n', 'mcpServers.a.url: '],
    [
      'mcp_servers:\n  a: { command: x }\nmcpServers:\n  a: { command: y }\n',
      'mcpServers.a: is under mcp_servers as well',
    ],
  ])('are told what is wrong where it stands: %j', async (text, problem) => {
    await expect(loadConfigText(text, { baseDir: '/', env: {}, file: '/etc/toolgate.yaml' })).rejects.toThrow(
      problem,
    );
  });
});
