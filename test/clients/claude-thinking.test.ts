import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { call, cut, type Part } from '../support/wire.js';
import { ClaudeRun } from './claude-code.js';
import { openLane, sampleOf } from './lanes.js';
import { assistantTurns, type SeenRequest } from './read-request.js';
import { say } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

/** On chat completions only some upstreams take thoughts back; DeepSeek insists on them. */
const THINKERS: Readonly<Record<DialectName, object>> = {
  'openai-chat': { profile: 'deepseek' },
  'openai-responses': {},
  'anthropic-messages': {},
};

const thought = (text: string, signature: string): Part => ({
  type: 'thinking',
  text: cut(text, 5),
  signature,
});

/** What the request says of how hard to think. */
function effortOf({ dialect, body }: SeenRequest): unknown {
  if (dialect === 'openai-chat') return body['reasoning_effort'];
  if (dialect === 'openai-responses') return Object(body['reasoning'])['effort'];
  return { ...Object(body['output_config']), ...Object(body['thinking']) };
}

describe.each(sampleOf('openai-responses'))('Claude Code on %s', (dialect) => {
  it('thinks, and gives its thoughts back, also in a resumed session', async () => {
    const workspace = await makeWorkspace({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' });
    const thoughts = ['I should read the file. 先读文件。', 'Then the other one.', 'That is all.'];
    const [first = '', second = '', third = ''] = thoughts;
    const lane = await openLane(
      dialect,
      {
        'Compare them': [
          {
            parts: [
              thought(first, 'c2VhbC0x'),
              { type: 'text', text: 'Reading.' },
              call('Read', { file_path: workspace.at('a.txt') }, 'call_a'),
            ],
          },
          {
            parts: [
              thought(second, 'c2VhbC0y'),
              call('Read', { file_path: workspace.at('b.txt') }, 'call_b'),
            ],
          },
          { parts: [thought(third, 'c2VhbC0z'), { type: 'text', text: 'They differ.' }] },
        ],
        'And now': [say('Still.')],
      },
      { upstream: THINKERS[dialect] },
    );
    const run = new ClaudeRun(lane, workspace, { prompt: 'Compare them' });
    await run.exited;
    const resumed = new ClaudeRun(lane, workspace, { prompt: 'And now', args: ['--continue'] });
    expect(await resumed.ends()).toMatchObject({ result: 'Still.' });

    expect(run.blocks('thinking').map(({ thinking }) => thinking)).toEqual(thoughts);
    const last = lane.model.played.at(-1)?.seen;
    const back = last ? assistantTurns(last).map(({ thinking, sealed }) => ({ thinking, sealed })) : [];
    const sealed = dialect === 'openai-chat' ? [] : ['c2VhbC0x', 'c2VhbC0y', 'c2VhbC0z'];
    expect(back.flatMap(({ thinking }) => thinking)).toEqual(thoughts);
    expect(back.flatMap((turn) => turn.sealed)).toEqual(sealed);
  });

  it('tells the upstream how hard to think, from an effort and from a budget', async () => {
    const workspace = await makeWorkspace();
    const lane = await openLane(dialect, { 'Think hard': [say('Done.')], 'Think less': [say('Done.')] });
    const sonnet = new ClaudeRun(lane, workspace, { prompt: 'Think hard', model: 'claude-sonnet-4-5' });
    await sonnet.exited;
    await new ClaudeRun(lane, workspace, { prompt: 'Think less', args: ['--effort', 'low'] }).ends();
    const asked = lane.model.played.map(({ seen }) => effortOf(seen));
    if (dialect !== 'anthropic-messages') expect(asked).toEqual(['high', 'low']);
    else expect(asked).toMatchObject([{ type: 'enabled', budget_tokens: 31_999 }, { effort: 'low' }]);
  });
});
