import { afterEach, describe, expect, it } from 'vitest';
import { createTestContext, runTool, type TestContext } from '../../test/support/tool-context.js';
import { todoReadTool, todoWriteTool } from './todo.js';

const contexts: TestContext[] = [];
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});

async function open(): Promise<TestContext> {
  const context = await createTestContext();
  contexts.push(context);
  return context;
}

const todo = (content: string, status: string) => ({ content, status, activeForm: `${content}…` });

describe('TodoWrite and TodoRead', () => {
  it('replace and show the whole list', async () => {
    const context = await open();
    expect((await runTool(todoReadTool, {}, context)).text).toBe('The to-do list is empty.');
    const first = [todo('Look', 'completed'), todo('Change\nit', 'in_progress'), todo('Test', 'pending')];
    const written = await runTool(todoWriteTool, { todos: first }, context);
    expect(written.text).toBe('The to-do list is saved (1 of 3 done).');
    expect((await runTool(todoReadTool, {}, context)).text).toBe(
      '1. [x] Look\n2. [~] Change it\n3. [ ] Test',
    );
    const second = await runTool(todoWriteTool, { todos: [todo('Other', 'in_progress')] }, context);
    expect(second.result.data).toMatchObject({ oldTodos: first, newTodos: [{ content: 'Other' }] });
    expect((await runTool(todoReadTool, {}, context)).text).toBe('1. [~] Other');
  });

  it('belong to their session', async () => {
    const [one, other] = [await open(), await open()];
    await runTool(todoWriteTool, { todos: [todo('Mine', 'pending')] }, one);
    expect((await runTool(todoReadTool, {}, other)).text).toBe('The to-do list is empty.');
  });

  it('give advice about items in progress, and no error', async () => {
    const context = await open();
    const two = { todos: [todo('A', 'in_progress'), todo('B', 'in_progress')] };
    expect((await runTool(todoWriteTool, two, context)).text).toContain('2 items are in progress at once');
    const idle = { todos: [todo('A', 'completed'), todo('B', 'pending')] };
    expect((await runTool(todoWriteTool, idle, context)).text).toContain('No item is in progress');
    const done = { todos: [todo('A', 'completed')] };
    expect((await runTool(todoWriteTool, done, context)).text).toBe('The to-do list is saved (1 of 1 done).');
    expect((await runTool(todoWriteTool, { todos: [] }, context)).text).toBe('The to-do list is empty now.');
  });

  it.each([
    ['a state that is not one', [todo('A', 'done')]],
    ['an empty text', [todo('', 'pending')]],
    ['no present tense', [{ content: 'A', status: 'pending' }]],
    ['too long a text', [todo('x'.repeat(2001), 'pending')]],
    ['too many', Array.from({ length: 201 }, () => todo('A', 'pending'))],
  ])('refuse %s', (_name, todos) => {
    expect(todoWriteTool.inputSchema?.safeParse({ todos }).success).toBe(false);
  });

  it('write in order, read beside each other', () => {
    expect(todoWriteTool.isConcurrencySafe({ todos: [] })).toBe(false);
    expect(todoReadTool.isConcurrencySafe({})).toBe(true);
  });
});
