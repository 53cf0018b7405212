// A longer one: progress while it runs, a switch that is asked at every offer, a call that people
// are asked about, and an end when the turn is stopped.
import { setTimeout as wait } from 'node:timers/promises';

export const tool = {
  name: 'Countdown',
  description: 'Counts down from a number, one second a step.',
  inputJSONSchema: {
    type: 'object',
    properties: { from: { type: 'integer', minimum: 1, maximum: 60, description: 'Where to start.' } },
    required: ['from'],
  },
  isEnabled: () =>
    process.env.NO_COUNTDOWN === undefined || { enabled: false, reason: 'NO_COUNTDOWN is set.' },
  prompt: 'Use Countdown only when the user asks for a countdown.',
  limits: { timeoutMs: 90_000 },
  describe: ({ from }) => ({ title: `Count down from ${from}`, kind: 'other', paths: [] }),
  async *call({ from }, { signal }) {
    for (let left = from; left > 0; left--) {
      yield { type: 'progress', content: `${left}…` };
      await wait(1_000, undefined, { signal });
    }
    yield { type: 'result', resultForAssistant: 'Lift-off.', data: { from } };
  },
};
