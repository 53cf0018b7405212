import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../support/violation.js';
import { ClaudeRun } from './claude-code.js';
import { openGateway, openLane, sampleOf } from './lanes.js';
import { COUNTED_TOKENS, LISTED_MODEL, say } from './scripted-model.js';
import { makeWorkspace, type Workspace } from './workspace.js';

const DISCOVERY = { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' };

/** What its `/model` will list. */
async function discovered({ home }: Workspace): Promise<unknown> {
  const cached = await readFile(join(home, '.claude/cache/gateway-models.json'), 'utf8');
  return JSON.parse(cached).models;
}

describe('Claude Code finds the models', () => {
  it('that are configured by name', async () => {
    const workspace = await makeWorkspace();
    const lane = await openGateway(
      'openai-chat',
      { 'Say hello': [say('Hello.')] },
      {
        'claude-on-gpt': { upstream: 'scripted', model: 'gpt-scripted', display_name: 'Claude on GPT' },
        'claude-*': { upstream: 'scripted', model: 'gpt-scripted' },
      },
    );
    await new ClaudeRun(lane, workspace, { prompt: 'Say hello', env: DISCOVERY }).ends();
    expect(await discovered(workspace)).toEqual([{ id: 'claude-on-gpt', display_name: 'Claude on GPT' }]);
  });

  it('that the upstream lists, and calls the one that was chosen', async () => {
    const workspace = await makeWorkspace();
    const models = { '*': { upstream: 'scripted' } };
    const lane = await openGateway('openai-chat', { 'Say hello': [say('Hello.')] }, models);
    const listed = `anthropic/${LISTED_MODEL}`;
    await new ClaudeRun(lane, workspace, { prompt: 'Say hello', model: listed, env: DISCOVERY }).ends();
    expect(await discovered(workspace)).toEqual([{ id: listed, display_name: LISTED_MODEL }]);
    expect(lane.model.played.map(({ seen }) => seen.model)).toEqual([LISTED_MODEL]);
  });
});

describe.each(sampleOf('anthropic-messages'))('Claude Code on %s', (dialect) => {
  it('is told what its context holds', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane(dialect, {});
    const run = new ClaudeRun(lane, workspace, { prompt: '/context' });
    await run.ends();
    const usage = run.events.map((event) => event['context_usage']).find(isRecord);
    expect(usage?.['total_tokens']).toBeGreaterThan(COUNTED_TOKENS);
    expect(usage?.['total_tokens']).toBeLessThan(COUNTED_TOKENS * 20);
    const counted = lane.model.tokenCounts.length;
    if (dialect === 'anthropic-messages') expect(counted).toBeGreaterThan(0);
    else expect(counted).toBe(0);
  });
});
