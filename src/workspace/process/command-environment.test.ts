import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanPath, commandEnvironment, findProgram } from './command-environment.js';

describe('commandEnvironment', () => {
  it('passes what programs need, and no more', () => {
    const environment = commandEnvironment({
      PATH: '/usr/bin',
      HOME: '/home/me',
      LC_TIME: 'C',
      LANG: 'de_DE.UTF-8',
      TZ: 'UTC',
      ANTHROPIC_API_KEY: 'sk-secret',
      TOOLGATE_KEY: 'secret',
      BASH_ENV: '/tmp/evil',
      'BASH_FUNC_ls%%': '() { evil; }',
      LD_PRELOAD: '/tmp/evil.so',
      NODE_OPTIONS: '--require /tmp/evil.js',
      GIT_SSH_COMMAND: 'evil',
      SSH_AUTH_SOCK: '/tmp/agent',
      AWS_SECRET_ACCESS_KEY: 'secret',
      PROMPT_COMMAND: 'evil',
    });
    expect(environment).toMatchObject({
      PATH: '/usr/bin',
      HOME: '/home/me',
      LC_TIME: 'C',
      LANG: 'de_DE.UTF-8',
      TZ: 'UTC',
    });
    const values = Object.values(environment).join('\n');
    expect(values).not.toMatch(/secret|evil|agent/);
  });

  it('leaves nothing to answer, to page or to edit', () => {
    expect(commandEnvironment({ PAGER: 'less', GIT_EDITOR: 'vi', TERM: 'xterm' })).toMatchObject({
      TERM: 'dumb',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GIT_EDITOR: 'true',
      GIT_TERMINAL_PROMPT: '0',
      DEBIAN_FRONTEND: 'noninteractive',
    });
  });
});

describe('cleanPath', () => {
  it.each([
    ['/usr/bin:/bin', '/usr/bin:/bin'],
    ['.:/usr/bin::bin:./node_modules/.bin:/bin:/usr/bin', '/usr/bin:/bin'],
  ])('of %s', (given, clean) => {
    expect(cleanPath(given)).toBe(clean);
  });

  it('has the usual folders where there is none', () => {
    expect(cleanPath(undefined)).toContain('/usr/bin');
    expect(cleanPath('.')).toContain('/usr/bin');
  });
});

it('finds a program on absolute entries of the path only, and nothing that cannot be run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolgate-path-'));
  await writeFile(join(folder, 'plain'), '');
  await writeFile(join(folder, 'tool'), '#!/bin/sh\n');
  await chmod(join(folder, 'tool'), 0o755);
  expect(findProgram('tool', `.:relative:${folder}`)).toBe(join(folder, 'tool'));
  expect(findProgram('plain', folder)).toBeUndefined();
  expect(findProgram('tool', '.')).toBeUndefined();
  expect(findProgram('tool', undefined)).toBeUndefined();
  await rm(folder, { recursive: true });
});
