import { describe, expect, it } from 'vitest';
import { checkThinking } from '../../clients/strict-request.js';
import { openWorld, type Step, says, type Wire, type World } from '../../support/claude-world.js';
import { errorInDialect } from '../../support/scripted-answers.js';

/** A model that Claude Code thinks with by a budget, always 31,999; with those that it does not know, as they like. */
const BY_BUDGET = 'claude-sonnet-4-5';

/** Refuses what Anthropic refuses. */
const strict: Step = (request) => {
  try {
    checkThinking(request.json);
    return says('Fine.');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return errorInDialect(400, 'invalid_request_error', message)(request, 0);
  }
};

/** One conversation: a process for each question would cost more than all the rest. */
class Talk {
  readonly #world: World;
  readonly #messages: Wire[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** What the upstream was sent as `thinking`; there must be an answer. */
  async ask(request: Wire): Promise<unknown> {
    const { upstream } = this.#world;
    this.#messages.push({ role: 'user', content: 'Go on' });
    this.#world.script(strict);
    const said = await this.#world.stream({ messages: this.#messages, ...request }, () => {});
    expect(said).toContain('Fine.');
    this.#messages.push({ role: 'assistant', content: 'Fine.' });
    const [only, ...more] = upstream.requests.splice(0);
    expect(more).toEqual([]);
    expect(only?.json['max_tokens']).toBe(request['max_tokens']);
    return only?.json['thinking'];
  }
}

const budget = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens });

describe('the thinking of Claude Code', { timeout: 120_000 }, () => {
  it('fits into the max_tokens of every request, or is left out', async () => {
    const talk = new Talk(await openWorld({ model: { model: BY_BUDGET } }));
    const sent: [number, unknown][] = [];
    for (const max_tokens of [1, 1024, 1025, 2048, 4096, 8192, 31_999, 32_000]) {
      sent.push([max_tokens, await talk.ask({ max_tokens, stream: max_tokens !== 4096 })]);
    }
    expect(sent).toEqual([
      [1, undefined],
      [1024, undefined],
      [1025, undefined],
      [2048, budget(1024)],
      [4096, budget(2048)],
      [8192, budget(4096)],
      [31_999, budget(15_999)],
      [32_000, budget(31_999)],
    ]);
  });

  it.each([
    ['as it likes', { thinking: { type: 'adaptive' } }, { type: 'adaptive' }],
    ['by a budget', { thinking: budget(1500) }, budget(1500)],
    ['not at all', { thinking: { type: 'disabled' } }, { type: 'disabled' }],
    ['between calls', { thinking: { type: 'between_tools' } }, { type: 'adaptive' }],
    ['with a temperature', { temperature: 0.5 }, { type: 'disabled' }],
    ['with an effort', { output_config: { effort: 'low' } }, undefined],
  ])('is %s where the client says so', async (_how, wish, thinking) => {
    const talk = new Talk(await openWorld({ model: { model: BY_BUDGET } }));
    expect(await talk.ask({ max_tokens: 2000, ...wish })).toEqual(thinking);
  });

  it('takes no limit where the model decides by itself', async () => {
    const talk = new Talk(await openWorld());
    expect(await talk.ask({ max_tokens: 1 })).toEqual({ type: 'adaptive' });
  });

  it('is refused by the upstream where the client asks for what cannot be', async () => {
    const world = await openWorld({ model: { model: BY_BUDGET } });
    world.script(strict);
    const answer = await world.post({
      max_tokens: 2000,
      thinking: budget(2000),
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('must be greater than `thinking.budget_tokens`');
  });
});
