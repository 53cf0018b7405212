/** What to paste where, with this gateway's address and a model. docs/claude-code.md and docs/virtual-mcp.md say more. */

export interface SnippetFacts {
  /** Of this gateway, without a slash at the end. */
  origin: string;
  model: string;
  /** Clients need one of the gateway's keys. */
  keys: boolean;
}

interface Snippet {
  id: string;
  title: string;
  language: 'sh' | 'toml' | 'js' | 'python';
  text: string;
}

export type ClientName = 'claude-code' | 'codex' | 'anthropic' | 'openai' | 'curl' | 'mcp';

export const CLIENTS: readonly ClientName[] = ['claude-code', 'codex', 'anthropic', 'openai', 'curl', 'mcp'];

/** Taken by a gateway that has no keys; clients insist on one. */
const ANY_KEY = 'local';
export const KEY_VARIABLE = 'TOOLGATE_KEY';

export function snippetsOf(client: ClientName, facts: SnippetFacts): Snippet[] {
  return MAKERS[client](facts);
}

const MAKERS: Record<ClientName, (facts: SnippetFacts) => Snippet[]> = {
  'claude-code': (facts) => [
    {
      id: 'claude-code',
      title: 'Claude Code',
      language: 'sh',
      text: [
        `ANTHROPIC_BASE_URL=${facts.origin} \\`,
        `ANTHROPIC_AUTH_TOKEN=${shellKey(facts)} \\`,
        `ANTHROPIC_MODEL=${shellWord(facts.model)} \\`,
        'claude',
      ].join('\n'),
    },
  ],
  codex: (facts) => [
    {
      id: 'codex-config',
      title: '~/.codex/config.toml',
      language: 'toml',
      text: [
        `model = ${JSON.stringify(facts.model)}`,
        'model_provider = "toolgate"',
        '',
        '[model_providers.toolgate]',
        'name = "toolgate"',
        `base_url = "${facts.origin}/v1"`,
        'wire_api = "responses"',
        `env_key = "${KEY_VARIABLE}"`,
      ].join('\n'),
    },
    { id: 'codex', title: 'Codex', language: 'sh', text: `${KEY_VARIABLE}=${shellKey(facts)} codex` },
  ],
  anthropic: (facts) => [
    {
      id: 'anthropic-js',
      title: 'JavaScript',
      language: 'js',
      text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: '${facts.origin}',
  apiKey: ${jsKey(facts)},
});
const message = await client.messages.create({
  model: ${JSON.stringify(facts.model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content);`,
    },
    {
      id: 'anthropic-python',
      title: 'Python',
      language: 'python',
      text: `${pythonImports(facts, 'import anthropic')}

client = anthropic.Anthropic(
    base_url="${facts.origin}",
    api_key=${pythonKey(facts)},
)
message = client.messages.create(
    model=${JSON.stringify(facts.model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(message.content)`,
    },
  ],
  openai: (facts) => [
    {
      id: 'openai-js',
      title: 'JavaScript',
      language: 'js',
      text: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${facts.origin}/v1',
  apiKey: ${jsKey(facts)},
});
const answer = await client.chat.completions.create({
  model: ${JSON.stringify(facts.model)},
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message.content);`,
    },
    {
      id: 'openai-python',
      title: 'Python',
      language: 'python',
      text: `${pythonImports(facts, 'from openai import OpenAI')}

client = OpenAI(
    base_url="${facts.origin}/v1",
    api_key=${pythonKey(facts)},
)
answer = client.chat.completions.create(
    model=${JSON.stringify(facts.model)},
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
    },
  ],
  curl: (facts) => [
    {
      id: 'curl-openai',
      title: 'OpenAI Chat Completions',
      language: 'sh',
      text: curl(facts, '/v1/chat/completions', {
        model: facts.model,
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
    },
    {
      id: 'curl-responses',
      title: 'OpenAI Responses',
      language: 'sh',
      text: curl(facts, '/v1/responses', { model: facts.model, input: 'Hello!' }),
    },
    {
      id: 'curl-anthropic',
      title: 'Anthropic Messages',
      language: 'sh',
      text: curl(facts, '/v1/messages', {
        model: facts.model,
        max_tokens: 1024,
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
    },
  ],
  // Unlike /v1, these take no other credential where there are no keys: the console's own token.
  mcp: (facts) => [
    {
      id: 'mcp-approvals',
      title: 'claude --permission-prompt-tool',
      language: 'sh',
      text: `cat > toolgate-mcp.json <<JSON
{
  "mcpServers": {
    "auth":    { "type": "http", "url": "${facts.origin}/mcp/auth",    "headers": { "Authorization": "Bearer $${KEY_VARIABLE}" } },
    "gateway": { "type": "http", "url": "${facts.origin}/mcp/gateway", "headers": { "Authorization": "Bearer $${KEY_VARIABLE}" } }
  }
}
JSON
claude -p "Run the tests and fix what fails" \\
  --mcp-config toolgate-mcp.json \\
  --permission-prompt-tool mcp__auth__approval_prompt \\
  --allowedTools mcp__gateway`,
    },
    {
      id: 'mcp-tools',
      title: 'claude mcp add',
      language: 'sh',
      text: `claude mcp add --transport http gateway ${facts.origin}/mcp/gateway --header "Authorization: Bearer $${KEY_VARIABLE}"`,
    },
  ],
};

function curl(facts: SnippetFacts, path: string, body: object): string {
  return [
    `curl ${facts.origin}${path} \\`,
    "  -H 'content-type: application/json' \\",
    ...(facts.keys ? [`  -H "authorization: Bearer $${KEY_VARIABLE}" \\`] : []),
    `  -d ${quote(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

function shellKey({ keys }: SnippetFacts): string {
  return keys ? `"$${KEY_VARIABLE}"` : ANY_KEY;
}

function jsKey({ keys }: SnippetFacts): string {
  return keys ? `process.env.${KEY_VARIABLE}` : `'${ANY_KEY}'`;
}

function pythonKey({ keys }: SnippetFacts): string {
  return keys ? `os.environ["${KEY_VARIABLE}"]` : `"${ANY_KEY}"`;
}

function pythonImports({ keys }: SnippetFacts, own: string): string {
  return keys ? `import os\n\n${own}` : own;
}

/** Bare where the shell reads it as it is. */
function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : quote(text);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
