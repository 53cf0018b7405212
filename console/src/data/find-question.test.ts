import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/manual-world.js';
import { approvalOf } from '../../../test/support/scripted-gateway.js';
import { ApiError, type Request, Unreachable } from './api.js';
import { FIND_TIMES, findQuestion, type WantedQuestion } from './find-question.js';
import { StateStore } from './reducer/console-state.js';

const WANTED: WantedQuestion = { session: 's1', call: 'call_q1', agent: null, approval: 'q1' };

function look(answer: () => unknown, more: Partial<WantedQuestion> = {}) {
  const clock = new ManualClock();
  const store = new StateStore();
  const asked: string[] = [];
  const request: Request = async (_method, path) => {
    asked.push(path);
    return JSON.parse(JSON.stringify(answer()));
  };
  const answers = { count: 0 };
  const stop = findQuestion({ ...WANTED, ...more }, { after: clock.after, request, store }, () => {
    answers.count += 1;
  });
  return { clock, store, asked, answers, stop };
}

const raise = (error: Error) => (): never => {
  throw error;
};

describe('a question that no event announced', () => {
  it('is fetched after a second, and not before', async () => {
    const { clock, store, asked, answers } = look(() => approvalOf('q1'));
    await clock.pass(FIND_TIMES.firstMs - 1);
    expect(asked).toEqual([]);
    await clock.pass(1);
    expect(asked).toEqual(['/api/approvals/q1']);
    expect(store.get().approvals.get('q1')).toMatchObject({ state: 'pending' });
    expect(answers.count).toBe(1);
  });

  it('is found by its call where no event named it', async () => {
    const data = [
      approvalOf('q2'),
      approvalOf('q3', { tool_use_id: 'call_q1', agent: 'a' }),
      approvalOf('q1'),
    ];
    const { clock, store, asked } = look(() => ({ data }), { approval: undefined });
    await clock.pass(FIND_TIMES.firstMs);
    expect(asked).toEqual(['/api/approvals?session=s1&state=pending&limit=500']);
    expect([...store.get().approvals.keys()]).toEqual(['q1']);
  });

  it('is missing where the gateway says so', async () => {
    const { clock, store, answers } = look(raise(new ApiError(404, {})));
    await clock.pass(FIND_TIMES.firstMs);
    expect(answers.count).toBe(1);
    expect(store.get().approvals.size).toBe(0);
    expect(clock.waiting).toBe(0);
  });

  it('is fetched again while nobody answers, until it is given up', async () => {
    const { clock, asked, answers, stop } = look(raise(new Unreachable('The gateway does not answer.')));
    await clock.pass(FIND_TIMES.firstMs + FIND_TIMES.againMs);
    expect(asked).toHaveLength(2);
    stop();
    await clock.pass(FIND_TIMES.againMs * 2);
    expect(asked).toHaveLength(2);
    expect(answers.count).toBe(0);
  });
});
