import { describe, expect, it } from 'vitest';
import type { Approval } from '../../permissions/approvals.js';
import { questionFor } from './ask-client.js';
import { loadServerSdk } from './sdk.js';

async function shownFor(tool: string, description: object, input: unknown = {}): Promise<string> {
  const approval = { tool, input, describe: { kind: 'other', paths: [], ...description } };
  const options = { requestState: 'state', chars: 4000 };
  const question = questionFor(await loadServerSdk(), approval as unknown as Approval, options);
  return JSON.stringify(question);
}

describe('a form for the person at the client', () => {
  it('shows everything that a yes would allow', async () => {
    const shown = await shownFor('WebFetch', {
      title: 'Fetch a page',
      url: 'https://example.com/a',
      detail: 'and send it on',
      command: 'curl -d @secret',
      diff: '+ a line',
    });
    for (const part of ['https://example.com/a', 'and send it on', 'curl -d @secret', '+ a line']) {
      expect(shown).toContain(part);
    }
    expect(await shownFor('Odd', { title: 'Do it' }, { target: 'all of it' })).toContain('all of it');
  });

  it('says why it is asked, where it would run, and who asks', async () => {
    const why = 'Its server has changed the tool since it was approved.';
    const hints = { blockedPath: '/etc/hosts', reason: 'It is outside of the folder.' };
    const shown = await shownFor('mcp__x__send', {
      ...{ title: 'Send', detail: 'a letter', agent: 'Tidy up' },
      asked: { why, place: { root: '/srv', cwd: '/srv/app' }, hints },
    });
    for (const part of [why, '/srv/app', '/etc/hosts', hints.reason, 'Tidy up'])
      expect(shown).toContain(part);
  });

  it('is not shown where the engine wants more than one press for a yes', async () => {
    const asked = { why: 'It is risky.', hints: { defaultToNo: true } };
    expect(await shownFor('Bash', { title: 'Run', command: 'rm -rf .', asked })).toBeUndefined();
  });

  it('shows characters that deceive as what they are', async () => {
    const shown = await shownFor('Bash', { title: 'Run', command: 'echo \u202efdp.exe \u001b[2K\u200b rm' });
    expect(shown).not.toMatch(/\u202e|\u200b|\u001b|\\u001b/);
    expect(shown).toContain('\\\\u{202e}fdp.exe \\\\u{1b}[2K\\\\u{200b} rm');
  });
});
