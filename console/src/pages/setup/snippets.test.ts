import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CLIENTS, snippetsOf } from './snippets.js';

const FACTS = { origin: 'http://127.0.0.1:3000', model: 'demo', keys: false };

const text = (id: string, facts = FACTS): string =>
  CLIENTS.flatMap((client) => snippetsOf(client, facts)).find((snippet) => snippet.id === id)?.text ?? '';

describe('examples for clients', () => {
  it('all name the gateway; Codex by its configuration', () => {
    const all = CLIENTS.flatMap((client) => snippetsOf(client, FACTS)).filter(({ id }) => id !== 'codex');
    for (const snippet of all) expect(snippet.text, snippet.id).toContain(FACTS.origin);
  });

  it('need no key where the gateway has none, and read it from the environment where it has some', () => {
    const ids = ['claude-code', 'codex', 'anthropic-js', 'anthropic-python', 'openai-js', 'curl-openai'];
    for (const id of ids) {
      expect(text(id), id).not.toContain('TOOLGATE_KEY"');
      expect(text(id, { ...FACTS, keys: true }), id).toMatch(
        /\$TOOLGATE_KEY|env\.TOOLGATE_KEY|environ\["TOOLGATE_KEY"\]/,
      );
    }
  });

  it('keep a strange model name one word of the shell, of JSON and of the languages', () => {
    const model = `it's "odd" $(id) \`id\` \\ 模型`;
    const odd = { ...FACTS, model };
    // The shell hands the body over as curl would get it.
    const command = text('curl-openai', odd).replace(/^curl/, 'printf %s\\\\n');
    const said = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(JSON.parse(said.slice(said.indexOf('{')))).toMatchObject({ model });
    const shown = text('claude-code', odd).replace(/claude$/, 'sh -c \'printf %s "$ANTHROPIC_MODEL"\'');
    expect(execFileSync('sh', ['-c', shown], { encoding: 'utf8' })).toBe(model);
    expect(text('openai-js', odd)).toContain(JSON.stringify(model));
  });

  it('write the credential into the MCP configuration by way of the shell', () => {
    const [command = ''] = text('mcp-approvals').split('\nclaude ');
    const made = execFileSync('sh', ['-c', command.replace('cat > toolgate-mcp.json', 'cat')], {
      encoding: 'utf8',
      env: { ...process.env, TOOLGATE_KEY: 'secret' },
    });
    expect(JSON.parse(made)).toMatchObject({
      mcpServers: {
        auth: { type: 'http', url: `${FACTS.origin}/mcp/auth`, headers: { Authorization: 'Bearer secret' } },
        gateway: { url: `${FACTS.origin}/mcp/gateway` },
      },
    });
  });
});
