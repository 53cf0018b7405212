import { expect, it } from 'vitest';
import { closeSitesAfterEach } from '../support/loopback-site.js';
import { call } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane } from './lanes.js';
import { resultsOf } from './read-request.js';
import { say, use } from './scripted-model.js';
import { startToolServers } from './tool-servers.js';
import { makeWorkspace } from './workspace.js';

closeSitesAfterEach();

it('Claude Code finds one of 300 MCP tools with its own search and calls it', async () => {
  const servers = await startToolServers(300);
  const wanted = 'mcp__stripe__update_invoice';
  expect(servers.names).toContain(wanted);
  const workspace = await makeWorkspace({ 'servers.json': JSON.stringify(servers.config) });
  const lane = await openLane('openai-chat', {
    'Pay the invoice': [
      use([call('ToolSearch', { query: 'stripe update invoice', max_results: 3 }, 'call_find')]),
      use([call(wanted, { invoice_id: 'in_7', fields: ['id', '名字'] }, 'call_update')]),
      say('It is paid.'),
    ],
  });
  const run = new ClaudeRun(lane, workspace, {
    prompt: 'Pay the invoice',
    allowed: [wanted],
    args: ['--strict-mcp-config', '--mcp-config', workspace.at('servers.json')],
  });
  expect(await run.ends()).toMatchObject({ result: 'It is paid.', num_turns: 3 });

  expect(servers.calls).toEqual([{ name: wanted, input: { invoice_id: 'in_7', fields: ['id', '名字'] } }]);
  const shown = lane.model.played.map(({ seen }) => seen.tools.filter((name) => name.startsWith('mcp__')));
  // What the client keeps back is not sent to an upstream that has no such list; what was found comes and stays.
  expect(shown[0]).toEqual([]);
  expect(shown[1]).toContain(wanted);
  expect(shown[1]?.length).toBeLessThanOrEqual(3);
  expect(shown[2]).toEqual(shown[1]);
  // The search is the client's own: the gateway adds none beside it.
  expect(lane.model.played[0]?.seen.tools.filter((name) => /tool_?search/i.test(name))).toEqual([
    'ToolSearch',
  ]);
  const last = lane.model.played.at(-1)?.seen;
  expect(last && resultsOf(last)).toMatchObject([
    { id: 'call_find', text: expect.stringContaining(wanted) },
    { id: 'call_update', text: expect.stringContaining('update_invoice of stripe') },
  ]);
});
