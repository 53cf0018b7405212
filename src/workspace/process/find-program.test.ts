import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from './find-program.js';

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
