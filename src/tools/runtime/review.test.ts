import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { deferred } from '../../../test/support/gate.js';
import { openToolWorld } from '../../../test/support/tool-world.js';
import { configSchema } from '../../config/schema.js';
import type { JsonObject } from '../../core/conversation.js';
import type { Approval } from '../../permissions/approvals.js';
import type { ReviewOutcome, ReviewRequest } from './review.js';

async function world(permissions: JsonObject) {
  const { path } = await tempFolder();
  const root = join(path, 'work');
  await mkdir(root);
  const opened = await openToolWorld({
    base: path,
    home: path,
    permissions: configSchema.shape.permissions.parse(permissions),
  });
  closeAfterTest(() => opened.close());
  const { runtime, coordinator } = opened;
  const session = await runtime.openToolState({
    id: 'outside-1',
    principal: 'alice',
    workspace: { root, home: path },
  });
  let count = 0;
  const review = (
    name: string,
    input: JsonObject,
    more: Partial<ReviewRequest> = {},
  ): Promise<ReviewOutcome> =>
    runtime.review({
      call: { type: 'tool_use', id: `toolu_${++count}`, name, input },
      toolState: session,
      signal: new AbortController().signal,
      ...more,
    });
  /** The call with what a person is asked about it. */
  const asked = async (
    name: string,
    input: JsonObject,
    more: Partial<ReviewRequest> = {},
  ): Promise<{ outcome: Promise<ReviewOutcome>; approval: Approval }> => {
    const waiting = deferred<string>();
    const outcome = review(name, input, { onWaiting: waiting.resolve, ...more });
    const approval = await coordinator.get(await waiting.promise);
    if (approval === undefined) throw new Error('no approval');
    return { outcome, approval };
  };
  coordinator.attend('alice');
  return { root, coordinator, runtime, session, review, asked };
}

const answerOf = async (outcome: Promise<ReviewOutcome>) => {
  const { verdict } = await outcome;
  return verdict.allowed ? 'allowed' : verdict.outcome;
};

describe('calls that somebody else runs', () => {
  it('lets through what a rule allows, as the very input that came', async () => {
    const { review } = await world({ mode: 'deny', allow: ['Bash(git log:*)'] });
    const input = { command: 'git log --oneline', description: 'Show', unknownToUs: 1 };
    const { verdict, readOnly, changed } = await review('Bash', input);
    expect(verdict).toMatchObject({ allowed: true });
    if (verdict.allowed) expect(verdict.input).toBe(input);
    expect(changed).toBe(false);
    expect(readOnly).toBe(false);
  });

  it('tells what only reads from what changes something', async () => {
    const { review, root } = await world({ mode: 'allow' });
    expect((await review('Bash', { command: 'git status' })).readOnly).toBe(true);
    expect((await review('Bash', { command: 'rm -r build' })).readOnly).toBe(false);
    expect((await review('Read', { file_path: join(root, 'a') })).readOnly).toBe(true);
    expect((await review('Monitor', { command: 'ls' })).readOnly).toBe(false);
  });

  it('does not ask whether a file was read here, which only the other side knows', async () => {
    const { root, asked } = await world({ mode: 'ask' });
    const file = join(root, 'a.txt');
    await writeFile(file, 'one\ntwo\n');
    const { approval } = await asked('Edit', { file_path: file, old_string: 'two', new_string: 'three' });
    expect(approval.describe).toMatchObject({ kind: 'edit', diff: expect.stringContaining('+three') });
  });

  it('shows the whole input of a change that it cannot show as a diff', async () => {
    const { root, asked } = await world({ mode: 'ask' });
    const { approval } = await asked('Edit', {
      file_path: join(root, 'elsewhere.txt'),
      old_string: 'not here',
      new_string: 'SECRET PLAN',
    });
    expect(JSON.stringify(approval.describe)).toContain('SECRET PLAN');
  });

  it('says who refused and why, in the words of the person', async () => {
    const { asked, coordinator } = await world({ mode: 'ask' });
    const { outcome, approval } = await asked('Bash', { command: 'npm publish' });
    await coordinator.decide(approval.id, {
      decision: 'deny',
      digest: approval.digest,
      by: 'bob',
      via: 'api',
      reason: 'Not on a Friday',
    });
    expect((await outcome).verdict).toMatchObject({
      allowed: false,
      outcome: 'denied',
      message: expect.stringMatching(/"bob" refused this call to Bash.*Not on a Friday/),
    });
  });

  it('gives back the input that a person put in place, and judges that one', async () => {
    const { asked, coordinator } = await world({ mode: 'ask', deny: ['Bash(curl:*)'] });
    const { outcome, approval } = await asked('Bash', { command: 'npm publish' });
    const answer = { decision: 'allow', digest: approval.digest, by: 'bob', via: 'api' } as const;
    for (const [updatedInput, problem] of [
      [{ command: 'curl x' }, /curl/],
      [{ command: 7 }, /command/],
      ['ls', /object/],
    ] as const) {
      expect(await coordinator.decide(approval.id, { ...answer, updatedInput })).toMatchObject({
        outcome: 'invalid',
        problem: expect.stringMatching(problem),
      });
    }
    const updatedInput = { command: 'ls -l' };
    await coordinator.decide(approval.id, { ...answer, updatedInput });
    expect(await outcome).toMatchObject({
      verdict: { allowed: true, input: updatedInput },
      changed: true,
      readOnly: true,
    });
  });

  it('judges fields that our own version of the tool does not know', async () => {
    const { review, root } = await world({ mode: 'allow', deny: ['Read(./.env)', 'Bash(curl:*)'] });
    const file = join(root, '.env');
    expect(await answerOf(review('Read', { file_path: join(root, 'a'), more: { file_path: file } }))).toBe(
      'denied',
    );
    expect(await answerOf(review('Read', { path: file }))).toBe('denied');
    expect(await answerOf(review('Read', { file_path: file, brandNew: true }))).toBe('denied');
    expect(await answerOf(review('Read', { file_path: join(root, 'b'), brandNew: true }))).toBe('allowed');
    expect(await answerOf(review('Bash', { command: 'ls', next: [{ command: 'curl x' }] }))).toBe('denied');
    expect(await answerOf(review('Monitor', { command: 'curl x' }))).toBe('denied');
    expect(await answerOf(review('Scribble', { filePath: file }))).toBe('denied');
    for (const [name, input] of [
      ['Read', { file_path: join(root, 'a'), file_paths: [join(root, 'b'), file] }],
      ['Read', { file_path: [file] }],
      ['Read', { file_path: join(root, 'a'), paths: ['.env'] }],
      ['Bash', { command: ['curl', 'x'] }],
      ['Bash', { command: 'ls', commands: ['ls', 'curl x'] }],
      ['Monitor', { commands: ['curl x'] }],
      ['Scribble', { filePaths: [file] }],
      ['Scribble', { file_paths: [...Array.from({ length: 300 }, (_, n) => join(root, `${n}`)), file] }],
    ] satisfies [string, JsonObject][]) {
      expect([name, input, await answerOf(review(name, input))]).not.toEqual([name, input, 'allowed']);
    }
  });

  const SEARCHES: readonly [string, JsonObject][] = [
    ['Grep', { pattern: 'KEY' }],
    ['Glob', { pattern: '**/*' }],
    ['LS', { path: '.' }],
    ['Grep', { pattern: 'KEY', brandNew: true }],
    ['Grep', { brandNew: true }],
  ];
  it.each(SEARCHES)(
    'does not let %s %o come across what must not be read: nothing can be left out there',
    async (name, input) => {
      const { review, root } = await world({
        mode: 'allow',
        deny: ['Read(./.env)', 'Read(./a/secret/**)', 'Read(./gone)'],
      });
      await mkdir(join(root, 'a/secret'), { recursive: true });
      await mkdir(join(root, 'b'));
      const inside = (path: string) => review(name, { ...input, path: join(root, path) });
      expect((await inside('a')).verdict).toMatchObject({
        allowed: false,
        outcome: 'denied',
        message: expect.stringMatching(
          new RegExp(`^${name} was not run: .* \\./a/secret, .*narrower folder`),
        ),
      });
      const { path: _, ...here } = input;
      expect(await answerOf(review(name, name === 'LS' ? input : here))).toBe('denied');
      await writeFile(join(root, '.env'), 'KEY=1');
      expect((await inside('.')).verdict).toMatchObject({ message: expect.stringContaining(' ./.env, ') });
      if (Object.keys(input).includes('pattern')) expect(await answerOf(inside('b'))).toBe('allowed');
    },
  );

  it("does not let a search come across the gateway's own files, which are not named", async () => {
    const { review, root } = await world({ mode: 'allow' });
    await mkdir(join(root, '../state'), { recursive: true });
    const { verdict } = await review('Grep', { pattern: 'x', path: join(root, '..') });
    expect(verdict).toMatchObject({
      allowed: false,
      message: expect.stringContaining('a file outside of the workspace'),
    });
    expect(await answerOf(review('Grep', { pattern: 'x' }))).toBe('allowed');
  });

  it('is never milder with an input that it cannot read', async () => {
    const { review, asked } = await world({ mode: 'ask', allow: ['Read'] });
    expect(await answerOf(review('Read', { what: 'everything' }))).toBe('denied');
    const { approval } = await asked('Read', { file_path: '/etc/hostname', brandNew: 1 });
    expect(JSON.stringify(approval.describe)).toContain('brandNew');
    const readOnly = await world({ mode: 'read-only' });
    expect(await answerOf(readOnly.review('TodoRead', {}))).toBe('allowed');
    expect(await answerOf(readOnly.review('TodoRead', { brandNew: 1 }))).toBe('denied');
  });

  it('judges tools that are not ours by their name', async () => {
    const { review } = await world({
      mode: 'deny',
      allow: ['Skill', 'mcp__docs__*'],
      deny: ['mcp__docs__drop'],
    });
    expect(await answerOf(review('Skill', { skill: 'pdf' }))).toBe('allowed');
    expect(await answerOf(review('Workflow', {}))).toBe('denied');
    expect(await answerOf(review('mcp__docs__search', { file_path: '/etc/passwd' }))).toBe('allowed');
    expect(await answerOf(review('mcp__docs__drop', {}))).toBe('denied');
  });

  it('knows a tool by its other name', async () => {
    const { review } = await world({ mode: 'deny', allow: ['Task'] });
    const input = { description: 'Look', prompt: 'Look around', subagent_type: 'general-purpose' };
    expect(await review('Agent', input)).toMatchObject({ name: 'Task', verdict: { allowed: true } });
  });

  it('asks questions whatever the mode, and takes the answers from the person alone', async () => {
    const { asked, coordinator } = await world({ mode: 'allow' });
    const questions = [
      { question: 'Which?', header: 'Which', options: [{ label: 'A' }, { label: 'B' }], multiSelect: false },
    ];
    const { outcome, approval } = await asked('AskUserQuestion', { questions, answers: { 'Which?': 'A' } });
    expect(approval.input).toEqual({ questions });
    const updatedInput = { questions, answers: { 'Which?': 'B' } };
    await coordinator.decide(approval.id, {
      decision: 'allow',
      digest: approval.digest,
      by: 'bob',
      via: 'api',
      updatedInput,
    });
    expect((await outcome).verdict).toMatchObject({ allowed: true, input: updatedInput });
    const plan = await asked('ExitPlanMode', {});
    expect(plan.approval.describe).toMatchObject({ kind: 'question' });
    expect(plan.approval.expiresAt).toBeUndefined();
  });

  it.each([{ isolation: 'worktree' }, { cwd: '/' }])(
    'refuses a sub-agent in another folder than the one that is judged from: %o',
    async (elsewhere) => {
      const { review } = await world({ mode: 'allow' });
      const task = { description: 'Look', prompt: 'Look', subagent_type: 'Explore' };
      for (const name of ['Task', 'Agent']) {
        expect((await review(name, task)).verdict).toMatchObject({ allowed: true });
        expect((await review(name, { ...task, ...elsewhere })).verdict).toMatchObject({
          allowed: false,
          message: expect.stringContaining('is not offered'),
        });
      }
    },
  );

  it('withdraws the question when it is no longer wanted', async () => {
    const { asked, coordinator } = await world({ mode: 'ask' });
    const controller = new AbortController();
    const resumed = deferred();
    const { outcome, approval } = await asked(
      'Bash',
      { command: 'make' },
      { signal: controller.signal, onResumed: resumed.resolve },
    );
    controller.abort();
    expect(await answerOf(outcome)).toBe('cancelled');
    await resumed.promise;
    expect((await coordinator.get(approval.id))?.state).toBe('cancelled');
  });

  it('answers a call that came too late to be asked about', async () => {
    const { review } = await world({ mode: 'allow' });
    expect(await answerOf(review('Bash', { command: 'ls' }, { signal: AbortSignal.abort() }))).toBe(
      'cancelled',
    );
  });

  it('ends with the runtime', async () => {
    const { asked, runtime } = await world({ mode: 'ask' });
    const { outcome } = await asked('Bash', { command: 'make' });
    const [verdict] = await Promise.all([answerOf(outcome), runtime.close()]);
    expect(verdict).toBe('cancelled');
  });
});
