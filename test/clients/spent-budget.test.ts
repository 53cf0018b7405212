/** What the user of a coding program reads when the budget of its key is spent. */
import { expect, it } from 'vitest';
import { atNoon } from '../support/noon.js';
import { CLAUDE_MODEL, ClaudeRun } from './claude-code.js';
import { CodexRun, codexHome } from './codex.js';
import { type Lane, openLane } from './lanes.js';
import { say } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

atNoon();

/** A dollar a token, and one answer given. */
async function openSpent(): Promise<Lane> {
  const lane = await openLane(
    'openai-chat',
    { 'Spend it': [say('Spent.')] },
    {
      model: { price: { input: 1_000_000, output: 1_000_000 } },
      config: {
        server: { keys: [{ key: 'client-key', name: 'alice', budget: { usd: 0.01, per: 'month' } }] },
      },
    },
  );
  const first = await fetch(`${lane.gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer client-key' },
    body: JSON.stringify({ model: CLAUDE_MODEL, input: 'Spend it' }),
  });
  expect(first.status).toBe(200);
  await first.text();
  return lane;
}

it('Claude Code says whose budget it is and when it begins anew', async () => {
  const run = new ClaudeRun(await openSpent(), await makeWorkspace({}), { prompt: 'Go on' });
  await run.exited;
  const { result } = await run.event(({ type }) => type === 'result');
  expect(result, run.report()).toMatch(
    /The key "alice" has spent its budget of 0\.01 USD a month\. It begins anew at \d{4}-\d\d-01T00:00:00Z\.$/,
  );
});

it('Codex says once that a quota is exceeded', async () => {
  const lane = await openSpent();
  const run = new CodexRun(lane, await makeWorkspace({}), {
    home: await codexHome(lane),
    prompt: 'Go on',
    model: CLAUDE_MODEL,
  });
  await run.exited;
  const said = run.events.filter(({ type }) => type === 'error').map(({ message }) => message);
  expect(said, run.report()).toEqual(['Quota exceeded. Check your plan and billing details.']);
});
