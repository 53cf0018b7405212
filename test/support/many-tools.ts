/** Tools of MCP servers by the hundred, as real servers describe theirs. */
import type { ToolDefinition } from '../../src/core/conversation.js';

const SERVERS = ['github', 'jira', 'slack', 'postgres', 'grafana', 'stripe', 'notion', 'figma'];
const VERBS = ['list', 'get', 'create', 'update', 'delete', 'search', 'archive', 'export'];
const NOUNS = ['issue', 'branch', 'message', 'channel', 'invoice', 'dashboard', 'page', 'comment', 'user'];

/** The same each time. At most 576 have names of their own. */
export function manyTools(count: number): ToolDefinition[] {
  return Array.from({ length: count }, (_, index) => {
    const server = SERVERS[index % SERVERS.length];
    const verb = VERBS[Math.floor(index / SERVERS.length) % VERBS.length];
    const noun = NOUNS[Math.floor(index / (SERVERS.length * VERBS.length)) % NOUNS.length];
    return {
      name: `mcp__${server}__${verb}_${noun}`,
      description: `Use this to ${verb} a ${noun} in ${server}. Returns the ${noun} as JSON with its id, its author and the time of its last change. Fails with a clear message where the ${noun} does not exist or the account may not ${verb} it.`,
      inputSchema: {
        type: 'object',
        properties: {
          [`${noun}_id`]: { type: 'string', description: `The id of the ${noun}, as other tools return it.` },
          fields: { type: 'array', items: { type: 'string' }, description: 'Which fields to return.' },
          limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most.' },
          cursor: { type: 'string', description: 'Where the page before this one ended.' },
        },
        required: [`${noun}_id`],
      },
    };
  });
}
