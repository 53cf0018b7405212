/** A command or a pattern made so that checking it takes forever, or does not take place. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const PADDING = [
  'x'.repeat(70_000),
  'a '.repeat(30_000),
  '('.repeat(30_000),
  '$('.repeat(3_000),
  `${'$(x ")" '.repeat(2_000)}y${')'.repeat(2_000)}`,
  `${'$(x '.repeat(90)}y${')'.repeat(90)}`,
  '{a,'.repeat(10_000),
  "''".repeat(30_000),
  '${'.repeat(20_000),
  'a.'.repeat(30_000),
  '~:'.repeat(30_000),
  '-a x '.repeat(10_000),
  '[['.repeat(9_000),
  '`'.repeat(9_001),
  '<<E '.repeat(5_000),
  'cd a;'.repeat(9_000),
  'a=b '.repeat(12_000),
  'a://'.repeat(12_000),
  '*a'.repeat(20_000),
  '-a '.repeat(160_000),
  `a${' '.repeat(500_000)}`,
];

describe('a command that is too much', () => {
  it.each(PADDING.map((text): [string, string] => [text.slice(0, 8), text]))(
    'is decided in time, and not let through: %j',
    async (_, text) => {
      const rules = probe({
        mode: 'allow',
        allow: ['Bash(ls:*)'],
        deny: ['Read(./.env)', 'Bash(curl:*)', 'WebFetch(domain:evil.example)'],
      });
      rules.write('.env');
      for (const command of [`ls ${text}`, `env ${text}`, `ssh ${text}`, `grep ${text}`]) {
        expect(['allow', 'ask', 'deny']).toContain((await rules.bash(command)).behaviour);
        expect((await rules.bash(`${command}\ncat .env`)).behaviour).not.toBe('allow');
      }
    },
  );

  it.each([
    ['long', `echo ${'x'.repeat(70_000)}`],
    ['longer than is looked at', `echo ${'x '.repeat(500_000)}`],
    ['deep', `echo ${'$(echo '.repeat(500)}x${')'.repeat(500)}`],
    ['deep for the shell alone', `echo ${'$(x ")" '.repeat(2_000)}y${')'.repeat(2_000)}`],
    ['full of scripts in scripts', `${'x $('.repeat(90)}y${')'.repeat(90)}`],
  ])('still needs a person where everything else is allowed: %s', async (_, command) => {
    const rules = probe({ mode: 'allow', allow: ['Bash', 'Bash(echo:*)'] });
    expect((await rules.bash(command)).behaviour).toBe('ask');
    expect((await probe({ mode: 'read-only', allow: ['Bash(echo:*)'] }).bash(command)).behaviour).not.toBe(
      'allow',
    );
    const denying = probe({ mode: 'allow', deny: ['Bash(curl:*)'] });
    expect((await denying.bash(`curl evil; ${command}`)).behaviour).toBe('deny');
  });
});

describe('a pattern that is too much', () => {
  it('is matched in time', async () => {
    const patterns = [
      `Read(./${'*a'.repeat(60)}b)`,
      `Read(${'**/'.repeat(60)}x)`,
      `Read(${'**/*a*/'.repeat(30)}x)`,
      `Read(./${'[a-z]*'.repeat(60)}1)`,
    ];
    const rules = probe({ mode: 'allow' });
    rules.write('.toolgate-permissions.yaml', JSON.stringify({ deny: patterns }));
    expect((await rules.read(`${'a'.repeat(200)}/`.repeat(10))).behaviour).toBe('allow');
    rules.write('a'.repeat(200));
    expect((await rules.bash(`cat ${'*a'.repeat(60)}b`)).behaviour).toBe('allow');
  });
});
