import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  type Answered,
  contentOf,
  openWorld,
  says,
  tool,
  user,
  type World,
} from '../../support/claude-world.js';
import { call } from '../../support/wire.js';

/** What the model was told in its last call. */
const lastTold = (world: World): string => JSON.stringify(world.told(world.upstream.requests.length - 1));

const bash = (command: string, id: string) => ({ parts: [call('Bash', { command }, id)] });

/** Goes on with the conversation; other tools make it a matter for a new process. */
async function goOn(world: World, answer: Answered, text: string, cold: boolean): Promise<Answered> {
  return world.post(
    { messages: [user(text)], ...(cold ? { tools: [tool('weather')] } : {}) },
    { 'x-session-id': answer.headers.get('x-session-id') ?? '' },
  );
}

describe('where Claude Code is', { timeout: 90_000 }, () => {
  it.each([
    ['on the same process', false],
    ['when it is woken', true],
  ])('is the folder that its commands went to, %s', async (_, cold) => {
    const world = await openWorld();
    await mkdir(world.path('sub/deep'), { recursive: true });
    await writeFile(world.path('AGENTS.md'), 'GUIDANCE OF THE ROOT');
    world.script(bash('cd sub/deep', 'toolu_cd'), says('There.'));
    const first = await world.post({ messages: [user('Go there')] });
    world.script(
      bash('pwd', 'toolu_pwd'),
      bash('cd ../.. && touch made', 'toolu_up'),
      bash('pwd', 'toolu_2'),
    );
    world.script(says('Done.'));
    const end = await goOn(world, first, 'Where are you?', cold);
    expect(contentOf(end)).toEqual([{ type: 'text', text: 'Done.' }]);
    const told = lastTold(world);
    expect(told).toContain(`"${world.path('sub/deep')}`);
    // Commands may go back to where they came from, and stay.
    expect(told).toContain(`"${world.root}"`);
    expect(told).not.toContain('was reset');
    expect(await readFile(world.path('made'), 'utf8')).toBe('');
    expect(world.upstream.requests.at(-1)?.text).toContain('GUIDANCE OF THE ROOT');
  });

  it('is the root again when the folder is gone', async () => {
    const world = await openWorld();
    await mkdir(world.path('sub'));
    world.script(bash('cd sub', 'toolu_cd'), says('There.'));
    const first = await world.post({ messages: [user('Go there')] });
    world.script(bash('pwd', 'toolu_pwd'), says('Done.'));
    await rmdir(world.path('sub'));
    expect(contentOf(await goOn(world, first, 'Where?', true))).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(lastTold(world)).toContain(`"${world.root}"`);
  });
});

describe('what is kept of a call', { timeout: 90_000 }, () => {
  it('has what ran in the place of what the model wrote, when it is woken as well', async () => {
    const world = await openWorld({ config: { permissions: { mode: 'ask', unattended: 'wait' } } });
    world.script(bash('echo a > a.txt', 'toolu_a'), says('Done.'));
    const answering = world.post({ messages: [user('Go')] });
    const updatedInput = { command: 'echo b > b.txt' };
    await world.decide(await world.approval(), { decision: 'allow', updatedInput });
    const first = await answering;
    const note = 'A person changed the input of this call before it ran. It ran with: ';
    expect(lastTold(world).split(note)).toHaveLength(2);
    world.script(says('Yes.'));
    await goOn(world, first, 'Did it work?', true);
    expect(lastTold(world).split(note)).toHaveLength(2);
    expect(lastTold(world)).toContain('echo b > b.txt');
  });

  it('can be read whole where it was too large to tell, when it is woken as well', async () => {
    const world = await openWorld();
    const read: string[] = [];
    /** Reads what the model was told the way to. */
    const readSaved = (id: string) => (request: { text: string }) => {
      const [path = 'untold'] = request.text.match(/\/[^"\\ ]*\.txt(?=[^"]*Preview)/g) ?? [];
      read.push(path);
      return { parts: [call('Read', { file_path: path, offset: 29_990, limit: 5 }, id)] };
    };
    world.script(bash('seq 100001 130000', 'toolu_seq'), readSaved('toolu_hot'), says('Read.'));
    const first = await world.post({ messages: [user('Count')] });
    expect(contentOf(first)).toEqual([{ type: 'text', text: 'Read.' }]);
    expect(lastTold(world)).toContain('129992');
    world.script(readSaved('toolu_cold'), says('Again.'));
    await goOn(world, first, 'Read it again', true);
    expect(lastTold(world).split('129992')).toHaveLength(3);
    // The process that has saved it has taken its own file along.
    expect(read.map((path) => existsSync(path))).toEqual([false, true]);
  });
});

it('reads no guidance that the rules keep from being read', { timeout: 60_000 }, async () => {
  const world = await openWorld({ config: { permissions: { mode: 'allow', deny: ['Read(./CLAUDE.md)'] } } });
  await writeFile(world.path('AGENTS.md'), 'OPEN GUIDANCE');
  await writeFile(world.path('CLAUDE.md'), 'HIDDEN GUIDANCE');
  world.script(says('Hello.'));
  await world.post({ messages: [user('Hello')] });
  const { text } = world.upstream.requests[0] ?? { text: '' };
  expect(text).toContain('OPEN GUIDANCE');
  expect(text).not.toContain('HIDDEN GUIDANCE');
});
