import { describe, expect, it } from 'vitest';
import { bodyOf, checkKey, EMPTY, fieldOf, type KeyForm } from './key-form.js';

const form = (more: Partial<KeyForm> = {}): KeyForm => ({ ...EMPTY, name: 'ci', ...more });

describe('a new key', () => {
  it('has no limits but those that were typed', () => {
    expect(bodyOf(form())).toEqual({ name: 'ci', scopes: ['call'], models: ['*'] });
    const limited = form({
      ...{ rpm: '60', tpm: '1000', maxStreams: '4', maxAgents: '1', budget: '2.5', per: 'week' },
      workspaces: '/srv/a\n\n /srv/b \n',
    });
    expect(bodyOf(limited)).toEqual({
      ...{ name: 'ci', scopes: ['call'], models: ['*'], rpm: 60, tpm: 1000, max_streams: 4, max_agents: 1 },
      ...{ budget: { usd: 2.5, per: 'week' }, workspaces: ['/srv/a', '/srv/b'] },
    });
  });

  it.each<[Partial<KeyForm>, object]>([
    [{}, {}],
    [{ name: '' }, { name: 'name-missing' }],
    [{ name: 'ci runner' }, { name: 'name-characters' }],
    [{ scopes: [] }, { scopes: 'scopes' }],
    [
      { rpm: 'many', tpm: '1.5', maxAgents: '0' },
      { rpm: 'count', tpm: 'count', maxAgents: 'count' },
    ],
    [{ budget: '-1' }, { budget: 'usd' }],
    [{ budget: '0.01' }, {}],
  ])('is checked before it is sent: %j', (change, problems) => {
    expect(checkKey(form(change))).toEqual(problems);
  });

  it('is told by the gateway which field it means', () => {
    expect(['budget.usd', 'workspaces.0', 'max_streams', 'expires_at', null].map(fieldOf)).toEqual([
      ...['budget', 'workspaces', 'maxStreams', undefined, undefined],
    ]);
  });
});
