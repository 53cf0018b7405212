/** Plays a whole task with any client. */
import { expect } from 'vitest';
import type { AgentSteps, ScriptedTurn } from '../support/scripted-agent-model.js';
import { outline } from '../support/told.js';
import { type Flow, KEYS } from './bench.js';
import type { ClientTool } from './clients/runners.js';
import type { ClientAnswer } from './clients/thread.js';
import { squeezed } from './protocol.js';

export interface LoopFlow {
  name: string;
  prompt: string;
  tools: readonly ClientTool[];
  before?(flow: Flow): Promise<void>;
  steps(flow: Flow): AgentSteps;
  /** Calls that the client is asked to run, in order. */
  calls: readonly string[];
  /** How many of them each answer brings. */
  rounds: readonly number[];
  /** All that the client is told, white space apart. */
  said: string;
  /** What the model has been told in the end, behind the prompt: matchers, or lines of the outline. */
  told: readonly unknown[];
  /** More may stand behind it. */
  open?: boolean;
  after?(flow: Flow, turn: ScriptedTurn): Promise<void> | void;
}

const shown = (name: string, input: unknown): string => `${name} ${JSON.stringify(input)}`;

/** Plays the part of a client that does as it is asked. */
export async function runLoop(flow: Flow, task: LoopFlow): Promise<void> {
  await task.before?.(flow);
  const turn = flow.play(task.prompt, task.steps(flow));
  const calls: string[] = [];
  const said = flow.client.runner
    ? await flow.client.runner({
        url: flow.url,
        key: KEYS.alice,
        model: flow.modelName(),
        stream: flow.client.stream,
        prompt: turn.prompt,
        tools: task.tools,
        onCall: (name, input) => calls.push(shown(name, input)),
      })
    : await loop(flow, task, turn.prompt, calls);
  expect(calls).toEqual(task.calls);
  expect(squeezed(said)).toBe(squeezed(task.said));
  const told = outline(turn.requests.at(-1)?.told ?? []);
  expect(told.shift()).toContain(turn.prompt);
  expect(task.open ? told.slice(0, task.told.length) : told).toEqual(task.told);
  await task.after?.(flow, turn);
}

async function loop(flow: Flow, task: LoopFlow, prompt: string, calls: string[]): Promise<string> {
  const thread = flow.thread().user(prompt);
  const rounds: number[] = [];
  let said = '';
  let session: string | undefined;
  for (;;) {
    const answer: ClientAnswer = await thread.send({ tools: task.tools });
    said += answer.text;
    expect(answer.session).not.toBe('');
    expect(answer.attach).toBe(session === undefined ? 'new' : 'continue');
    session ??= answer.session;
    expect(answer.session).toBe(session);
    expect(answer.stop).toBe(answer.calls.length > 0 ? 'calls' : 'end');
    if (answer.calls.length === 0) break;
    rounds.push(answer.calls.length);
    thread.echo().results(
      answer.calls.map(({ id, name, input }) => {
        calls.push(shown(name, input));
        const tool = task.tools.find((each) => each.name === name);
        if (tool === undefined) throw new Error(`${name} is no tool of this client`);
        return { id, ...tool.run(input) };
      }),
    );
  }
  expect(rounds).toEqual(task.rounds);
  return said;
}
