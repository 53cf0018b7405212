import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { callOf, fakeGate, fakeWorld, textOf } from '../../../test/support/fake-tools.js';
import { gate as door } from '../../../test/support/gate.js';
import { createBashTool } from './bash.js';

const bash = (command: string) => callOf('Bash', { command });

it('a command runs with the folder and the variables that a person was shown, whatever ran meanwhile', async () => {
  const folder = (await tempFolder()).path;
  await mkdir(join(folder, 'sub'));
  const approval = door();
  const shown: string[] = [];
  const gate = fakeGate(async ({ describe, effects }) => {
    if (describe.command?.startsWith('echo') !== true) return undefined;
    shown.push(JSON.stringify([describe, effects]));
    await approval.pass();
    return undefined;
  });
  const { runtime, results, session } = await fakeWorld([createBashTool({})], folder, { gate });
  closeAfterTest(() => runtime.close());

  const waiting = results([bash('echo "[$REGISTRY]"; pwd; export OWN=1')]);
  await approval.reached;
  await results([bash('export REGISTRY=elsewhere; cd sub')]);
  approval.open();

  expect(textOf((await waiting)[0])).toContain(`[]\n${session.workspace.root}`);
  expect(shown.join()).not.toContain('elsewhere');
  // What the other command left is for the next ones: this one took nothing of it away.
  expect(Object.fromEntries(session.variables)).toEqual({ REGISTRY: 'elsewhere', OWN: '1' });
  expect(session.cwd).toBe(join(session.workspace.root, 'sub'));
});
