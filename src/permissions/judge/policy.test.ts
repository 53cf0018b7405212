import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '../../../test/attacks/policy-probe.js';
import type { Rule } from '../../store/rules.js';

const person = (rule: string, behaviour: Rule['behaviour'], id = rule): Rule => ({
  id,
  rule,
  behaviour,
  scope: 'everywhere',
  createdBy: 'alice',
  createdAt: 0,
});

describe('the mode', () => {
  it('is for what no rule matches', async () => {
    expect((await probe().edit('a')).behaviour).toBe('ask');
    expect((await probe({ mode: 'allow' }).edit('a')).behaviour).toBe('allow');
    expect((await probe({ mode: 'deny' }).bash('ls')).behaviour).toBe('deny');
    expect((await probe({ mode: 'deny', allow: ['Bash(ls:*)'] }).bash('ls')).behaviour).toBe('allow');
    expect((await probe({ mode: 'deny', ask: ['Bash(ls:*)'] }).bash('ls')).behaviour).toBe('ask');
  });

  it.each(['Read', 'Grep', 'Glob', 'LS', 'NotebookRead'])(
    'ask lets %s read inside the workspace unless a rule says otherwise, and nothing else',
    async (tool) => {
      const reads = (rules: ReturnType<typeof probe>, path: string) =>
        rules.judge({ tool, effects: [{ kind: 'read', path: join(rules.root, path) }] });
      const rules = probe();
      expect(await reads(rules, 'a')).toMatchObject({
        behaviour: 'allow',
        because: { kind: 'workspace', part: 'reading ./a' },
        message: 'No rule is about reading ./a, and reading inside the workspace needs no approval.',
      });
      expect((await reads(rules, '../elsewhere')).behaviour).toBe('ask');
      symlinkSync(rules.outside, join(rules.root, 'link'));
      expect((await reads(rules, 'link/x')).behaviour, 'through a link that leads out').toBe('ask');
      expect((await rules.bash('cat a')).behaviour).toBe('ask');
      expect((await reads(probe({ ask: ['Read(./a)'] }), 'a')).behaviour).toBe('ask');
      expect((await reads(probe({ ask: [tool] }), 'a')).behaviour).toBe('ask');
      expect((await reads(probe({ deny: ['Read'] }), 'a')).behaviour).toBe('deny');
      expect((await reads(probe({ mode: 'deny' }), 'a')).behaviour).toBe('deny');
    },
  );

  it('ask is asked about credentials where the workspace is the home, and searches do not show them', async () => {
    const rules = probe();
    const location = { root: rules.home, cwd: rules.home };
    const reads = (path: string, tool = 'Read') =>
      rules.judge({ tool, effects: [{ kind: 'read', path: join(rules.home, path) }], location });
    expect((await reads('notes.txt')).behaviour).toBe('allow');
    for (const path of ['.ssh/id_ed25519', '.aws/credentials', '.netrc', '.config/gh/hosts.yml']) {
      expect((await reads(path)).behaviour, path).toBe('ask');
      expect((await reads(path, 'Grep')).behaviour, path).toBe('ask');
    }
    const shown = rules.policy.readable(location, 's1', []);
    expect(shown(join(rules.home, '.ssh/id_ed25519'))).toBe(false);
    expect(shown(join(rules.home, 'notes.txt'))).toBe(true);
    const allowed = probe({ allow: ['Read(~/.ssh/config)'] });
    const own = { root: allowed.home, cwd: allowed.home };
    expect(allowed.policy.readable(own, 's1', [])(join(allowed.home, '.ssh/config'))).toBe(true);
  });

  it('read-only allows tools that only read, and reads in the workspace', async () => {
    const rules = probe({ mode: 'read-only' });
    expect((await rules.read('a')).behaviour).toBe('allow');
    expect((await rules.fetch('https://docs.example')).behaviour).toBe('allow');
    expect((await rules.judge({ tool: 'mcp__a__get', readOnly: true })).behaviour).toBe('allow');
    expect((await rules.judge({ tool: 'mcp__a__set' })).behaviour).toBe('deny');
    expect((await rules.edit('a')).behaviour).toBe('deny');
    expect((await rules.bash('git status && ls -la src | head -5')).behaviour).toBe('allow');
    for (const command of [
      'npm test',
      'git push',
      'ls > x',
      'cat $X',
      'cd src',
      'ls /',
      'cat ../x',
      'curl x',
    ]) {
      expect((await rules.bash(command)).behaviour, command).toBe('deny');
    }
  });

  it('allows what is harmless by nature, unless a rule is about it', async () => {
    const harmless = { tool: 'TodoWrite', needsPermissions: false };
    expect(await probe({ mode: 'deny' }).judge(harmless)).toMatchObject({
      behaviour: 'allow',
      because: { kind: 'harmless' },
    });
    expect((await probe({ deny: ['TodoWrite'] }).judge(harmless)).behaviour).toBe('deny');
    expect((await probe({ ask: ['Todo*'] }).judge(harmless)).behaviour).toBe('ask');
  });

  it('is not gone around by a tool that calls itself harmless and has effects', async () => {
    const rules = probe();
    const effects = [{ kind: 'edit', path: `${rules.root}/a` }] as const;
    expect((await rules.judge({ tool: 'Memo', needsPermissions: false, effects })).behaviour).toBe('ask');
  });
});

describe('rules', () => {
  it('put deny before ask before allow, wherever they are from', async () => {
    const config = { allow: ['Read'], ask: ['Read(./b/**)'], deny: ['Read(./b/c)'] };
    const all = probe({ ...config, stored: [person('Read(./b/**)', 'allow'), person('Read(./d)', 'deny')] });
    expect((await all.read('a')).behaviour).toBe('allow');
    expect((await all.read('b/x')).behaviour).toBe('ask');
    expect((await all.read('b/c')).behaviour).toBe('deny');
    expect((await all.read('d')).behaviour).toBe('deny');
  });

  it('take the strictest over all effects of a call, and say which part it was', async () => {
    const rules = probe({ mode: 'allow', deny: ['Read(./secret)'] });
    const decision = await rules.judge({
      tool: 'Copy',
      effects: [
        { kind: 'edit', path: `${rules.root}/a` },
        { kind: 'read', path: `${rules.root}/secret` },
      ],
    });
    expect(decision).toMatchObject({
      behaviour: 'deny',
      because: { kind: 'rule', rule: 'Read(./secret)', source: 'configuration', part: 'reading ./secret' },
      message: 'The rule `Read(./secret)` of the configuration denies reading ./secret.',
    });
  });

  it.each([
    ['*', 'anything', 'allow'],
    ['mcp__docs', 'mcp__docs__get', 'allow'],
    ['mcp__docs__*', 'mcp__docs__get', 'allow'],
    ['mcp__do*', 'mcp__docs__get', 'allow'],
    ['mcp__docs__get', 'mcp__docs__get', 'allow'],
    ['mcp__docs__get', 'mcp__docs__put', 'ask'],
    ['Web*', 'WebSearch', 'allow'],
    ['WebSearch', 'WebFetcher', 'ask'],
    ['Task', 'Task', 'allow'],
    ['Agent', 'Task', 'allow'],
    ['websearch', 'WebSearch', 'ask'],
  ])('%s on %s: %s', async (rule, tool, behaviour) => {
    expect((await probe({ allow: [rule] }).judge({ tool })).behaviour).toBe(behaviour);
  });

  it('for Read bind the tools that read, rules for Edit those that write', async () => {
    const allow = ['Read(./a/**)', 'Edit(./b/**)'];
    const rules = probe({ mode: 'deny', allow, deny: ['Read(./a/x)', 'Edit(./b/x)'] });
    for (const tool of ['Read', 'Grep', 'Glob', 'LS', 'NotebookRead']) {
      const on = (path: string) =>
        rules.judge({ tool, effects: [{ kind: 'read', path: `${rules.root}/${path}` }] });
      expect((await on('a/y')).behaviour, tool).toBe('allow');
      expect((await on('a/x')).because, tool).toMatchObject({ kind: 'rule', rule: 'Read(./a/x)' });
      expect((await on('b/y')).because, tool).toMatchObject({ kind: 'mode', mode: 'deny' });
    }
    for (const tool of ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']) {
      const on = (path: string) =>
        rules.judge({ tool, effects: [{ kind: 'edit', path: `${rules.root}/${path}` }] });
      expect((await on('b/y')).behaviour, tool).toBe('allow');
      expect((await on('b/x')).because, tool).toMatchObject({ kind: 'rule', rule: 'Edit(./b/x)' });
      expect((await on('a/y')).because, tool).toMatchObject({ kind: 'mode', mode: 'deny' });
    }
  });

  it("with a tool's own name are for that tool alone", async () => {
    const rules = probe({ ask: ['Grep'], deny: ['Write(./a)'] });
    const file = { kind: 'read', path: `${rules.root}/a`, tree: true } as const;
    expect((await rules.judge({ tool: 'Grep', effects: [file] })).behaviour).toBe('ask');
    expect((await rules.judge({ tool: 'Read', effects: [file] })).behaviour).toBe('allow');
    const edit = { kind: 'edit', path: `${rules.root}/a` } as const;
    expect((await rules.judge({ tool: 'Write', effects: [edit] })).behaviour).toBe('deny');
    expect((await rules.judge({ tool: 'Edit', effects: [edit] })).behaviour).toBe('ask');
  });

  it('without a path allow the workspace only, but deny and ask everywhere', async () => {
    const { outside } = probe();
    expect((await probe({ allow: ['Read'] }).read(`${outside}/x`)).behaviour).toBe('ask');
    expect((await probe({ mode: 'allow', deny: ['Read'] }).read(`${outside}/x`)).behaviour).toBe('deny');
    expect((await probe({ mode: 'allow', ask: ['Edit'] }).edit(`${outside}/x`)).behaviour).toBe('ask');
    expect((await probe({ allow: ['*'] }).read(`${outside}/x`)).behaviour).toBe('allow');
  });

  it('that allow a tool by its name allow what it does, but nothing that is denied or runs code', async () => {
    const rules = probe({ allow: ['mcp__fs'], deny: ['Edit(./b)'] });
    const on = (path: string) =>
      rules.judge({ tool: 'mcp__fs__write', effects: [{ kind: 'edit', path: `${rules.root}/${path}` }] });
    expect((await on('a')).behaviour).toBe('allow');
    expect((await on('b')).behaviour).toBe('deny');
    expect((await on('.git/config')).behaviour).toBe('ask');
  });

  it('of people are compiled for the list that they are in', async () => {
    const one = probe();
    const list = [person('Edit', 'allow')];
    const call = {
      principal: 'a',
      session: 's',
      toolUseId: 't',
      tool: 'Edit',
      input: {},
      readOnly: false,
      needsPermissions: true,
      effects: [{ kind: 'edit', path: `${one.root}/a` }],
      location: { root: one.root, cwd: one.root },
    } as const;
    expect((await one.policy.decide(call, list)).behaviour).toBe('allow');
    expect((await one.policy.decide(call, [])).behaviour).toBe('ask');
    expect((await one.policy.decide(call, [person('Edit', 'deny')])).behaviour).toBe('deny');
  });

  it('for one call are used only where no other would do', async () => {
    const once: Rule = { ...person('Edit(./a)', 'allow', 'once'), scope: 'once', session: 's1' };
    const decision = await probe({ stored: [once, person('Edit', 'allow', 'always')] }).edit('a');
    expect(decision.because).toMatchObject({ kind: 'rule', id: expect.any(String) });
    expect((await probe({ stored: [once] }).edit('a')).because).toMatchObject({ id: 'once' });
  });

  it('name the part of a line that has none', async () => {
    const decision = await probe({ allow: ['Bash(ls:*)'] }).bash('ls && npm publish');
    expect(decision.because).toMatchObject({ kind: 'mode', part: '`npm publish`' });
  });

  it('say why a prefix rule did not cover a command', async () => {
    const rules = probe({ allow: ['Bash(sort:*)', 'Bash(cat:*)'] });
    expect((await rules.bash('sort -o x y')).because).toMatchObject({ kind: 'shell', part: 'sort -o' });
    expect((await rules.bash('cat x > y')).because).toMatchObject({
      kind: 'shell',
      problem: 'redirects output',
    });
    expect((await rules.bash('cat /etc/hosts')).message).toContain(
      'reading /etc/hosts needs a rule for Read',
    );
  });
});

describe("a session's own files", () => {
  it('can be read without a rule, also where the gateway keeps its own', async () => {
    const base = probe();
    const scratch = join(base.root, '..', 'gateway', 'scratch');
    mkdirSync(scratch, { recursive: true });
    const rules = probe({ ownPaths: [scratch] });
    expect((await rules.read(join(scratch, 'out.txt'))).behaviour).toBe('allow');
    expect((await rules.edit(join(scratch, 'out.txt'))).behaviour).toBe('ask');
    expect((await rules.read(join(scratch, '..', 'toolgate.db'))).behaviour).toBe('ask');
    const denied = probe({ ownPaths: [scratch], deny: ['Read(//**/scratch/**)'] });
    expect((await denied.read(join(scratch, 'out.txt'))).behaviour).toBe('deny');
  });
});

describe('what a search may show', () => {
  it('is what no rule denies or asks about', () => {
    const { policy, root, home } = probe({
      allow: ['Read'],
      ask: ['Read(./b/**)'],
      deny: ['Read(*.pem)'],
      stored: [],
    });
    const readable = policy.readable({ root, cwd: root }, 's1', [
      person('Read(./c)', 'deny'),
      { ...person('Read(./d)', 'deny'), scope: 'session', session: 's2' },
    ]);
    for (const [path, expected] of [
      ['a', true],
      ['b/x', false],
      ['x/y.pem', false],
      ['c', false],
      ['c/below', false],
      ['d', true],
      ['toolgate.yaml', false],
    ] as const) {
      expect(readable(join(root, path)), path).toBe(expected);
    }
    expect(readable(join(home, 'x'))).toBe(true);
  });
});
