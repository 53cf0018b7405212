/** `/work` and `/work-evil` begin alike. */
import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('a name that begins like another', () => {
  it('is no part of the workspace', async () => {
    const { read, edit, bash, root, judge } = probe({ allow: ['Read', 'Edit', 'Bash(cat:*)', 'Grep', 'LS'] });
    for (const path of [
      `${root}-evil/x`,
      `${root}evil`,
      `${root}/../work-evil/x`,
      `${root}/..`,
      `${root}.bak/x`,
    ]) {
      expect((await read(path)).behaviour, path).toBe('ask');
      // The gateway's own folder is beside the workspace, and so in the folder above it.
      expect((await edit(path)).behaviour, path).toBe(path.endsWith('..') ? 'deny' : 'ask');
      expect((await bash(`cat ${path}`)).behaviour, path).toBe('ask');
      expect(
        (await judge({ tool: 'Grep', effects: [{ kind: 'read', path, tree: true }] })).behaviour,
        path,
      ).toBe('ask');
    }
    expect((await read(root)).behaviour).toBe('allow');
    expect((await read(`${root}/x`)).behaviour).toBe('allow');
  });

  it('is no part of a folder in a rule, and its folder no part of it', async () => {
    const rules = probe({
      mode: 'deny',
      allow: ['Read(./src)', 'Edit(./docs/**)', 'Read(~/notes/**)'],
      deny: ['Read(./src/key)'],
    });
    expect((await rules.read('src/a')).behaviour).toBe('allow');
    expect((await rules.read('src-evil/a')).because).toMatchObject({ kind: 'mode', mode: 'deny' });
    expect((await rules.read('srcs')).because).toMatchObject({ kind: 'mode', mode: 'deny' });
    expect((await rules.read('src/key2')).behaviour).toBe('allow');
    expect((await rules.read('src/key')).because).toMatchObject({ kind: 'rule' });
    expect((await rules.edit('docs2/a')).because).toMatchObject({ kind: 'mode', mode: 'deny' });
    expect((await rules.edit('xdocs/a')).because).toMatchObject({ kind: 'mode', mode: 'deny' });
    expect((await rules.read(`${rules.home}/notes-evil/a`)).because).toMatchObject({
      kind: 'mode',
      mode: 'deny',
    });
    expect((await rules.read(`${rules.home}/notes/a`)).behaviour).toBe('allow');
  });

  it("is not the gateway's own, nor does its own hide under another name", async () => {
    const open = probe({ mode: 'allow' });
    const gateway = `${open.root}/../gateway`;
    mkdirSync(`${gateway}-not`);
    expect((await open.read(`${gateway}-not/x`)).behaviour).toBe('allow');
    expect((await open.read(`${open.root}/toolgate.yaml.bak`)).behaviour).toBe('allow');
    for (const path of [
      `${gateway}/toolgate.db`,
      gateway,
      `${open.root}/toolgate.yaml`,
      `${open.root}/./toolgate.yaml`,
      `${gateway}-wal`,
    ]) {
      expect((await open.read(path)).behaviour, path).toBe('deny');
      expect((await open.edit(path)).behaviour, path).toBe('deny');
    }
  });

  it('of an MCP server is another server', async () => {
    const rules = probe({ allow: ['mcp__docs', 'mcp__web__get', 'mcp__a__*'], mode: 'ask' });
    for (const [tool, behaviour] of [
      ['mcp__docs__x', 'allow'],
      ['mcp__docs-evil__x', 'ask'],
      ['mcp__docs_evil__x', 'ask'],
      ['mcp__docsevil__x', 'ask'],
      ['mcp__web__get', 'allow'],
      ['mcp__web__get2', 'ask'],
      ['mcp__web__set', 'ask'],
      ['mcp__a__b__c', 'allow'],
      ['mcp__ab__c', 'ask'],
      ['docs__x', 'ask'],
    ] as const) {
      expect((await rules.judge({ tool })).behaviour, tool).toBe(behaviour);
    }
  });
});
