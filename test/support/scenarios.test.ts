/** That a scenario fails when what it says is not so. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from './cleanup.js';
import { readScenarios, runScenario } from './scenarios.js';

async function differencesOf(yaml: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const { path } = await tempFolder();
  const folder = join(path, '001-example');
  await mkdir(folder);
  for (const [name, text] of Object.entries({ ...files, 'scenario.yaml': yaml })) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const [scenario] = await readScenarios(path);
  if (scenario === undefined) throw new Error('no scenario');
  return (await runScenario(scenario)).join('\n');
}

const THINK = 'title: x\nsteps:\n  - call: Think\n    input: { thought: hm }\n';

const READ = `steps:
  - call: Read
    input: { file_path: $ROOT/.env }
    expect: { error: true, outcome: `;

describe('a scenario', () => {
  it('passes when everything is as it says', async () => {
    const yaml = `${THINK}    expect: { text: Noted., contains: [No], lacks: [xx], matches: ["^N.t"] }\n`;
    expect(await differencesOf(yaml, { 'before/a.txt': 'a', 'after/a.txt': 'a' })).toBe('');
  });

  it.each([
    [
      'another text',
      'expect: { text: Something else }',
      /expected the text\n.*Something else\n.*\n.*Noted\./,
    ],
    ['a part that is not there', 'expect: { contains: [absent] }', /to contain "absent"(?:.|\n)*Noted\./],
    ['a part that should not be there', 'expect: { lacks: [Noted] }', /not to contain "Noted"/],
    ['a pattern that does not match', 'expect: { matches: ["^x"] }', /to match \/\^x\/m/],
    ['an error that did not come', 'expect: { error: true }', /expected an error/],
    ['another outcome', 'expect: { outcome: denied }', /expected outcome denied/],
    ['images that are not there', 'expect: { images: 1 }', /expected 1 of type image, got 0/],
  ])('fails for %s', async (_what, expectation, message) => {
    expect(await differencesOf(`${THINK}    ${expectation}\n`)).toMatch(message);
  });

  it('fails for an error that nobody expected', async () => {
    expect(await differencesOf('title: x\nsteps: [{ call: Nothing }]\n')).toMatch(/failed; .*unknown-tool/);
  });

  it('fails when the folder is not what `after` has', async () => {
    const files = { 'before/a.txt': 'a', 'before/b.txt': 'b', 'after/a.txt': 'A', 'after/c.txt': 'c' };
    const differences = await differencesOf(THINK, files);
    expect(differences).toMatch(/a\.txt should hold\n.*"A"\nand holds\n.*"a"/);
    expect(differences).toContain('b.txt should not be there');
    expect(differences).toContain('c.txt is missing');
  });

  it('fails when its last check does', async () => {
    expect(await differencesOf(`${THINK}after_check: test -e "$OUTSIDE/x"\n`)).toContain(
      'after_check failed',
    );
  });

  it('lets another program change files between calls', async () => {
    const yaml = `${THINK}  - run: echo more >> a.txt\n  - call: Think\n    input: { thought: hm }\n`;
    expect(await differencesOf(yaml, { 'before/a.txt': 'a' })).toBe('');
  });

  it.each([
    ['mode: allow, deny: ["Read(./.env)"]', 'denied'],
    ['mode: deny', 'denied'],
    ['mode: ask, ask: ["Read(./.env)"]', 'unattended'],
  ])('has the permissions that it gives: %s', async (permissions, outcome) => {
    const yaml = `title: x\npermissions: { ${permissions} }\n${READ}${outcome} }\n`;
    expect(await differencesOf(yaml, { 'before/.env': 'SECRET=1\n' })).toBe('');
  });

  it('is refused where it has a key that nobody knows', async () => {
    await expect(differencesOf(`${THINK}wrong: 1\n`)).rejects.toThrow(/wrong/);
  });
});
