import { describe, expect, it } from 'vitest';
import { approvalOf, typedTerminal } from '../../../test/support/typed-terminal.js';
import type { Approval, ApprovalEvent, PersonAnswer } from '../../permissions/approvals.js';
import { ApprovalPrompt } from './approval-prompt.js';
import { painter } from './render.js';

function promptOf({ readable = async () => {} }: { readable?: () => Promise<void> } = {}) {
  const terminal = typedTerminal();
  const answers: (PersonAnswer & { id: string })[] = [];
  const attended: (string | undefined)[] = [];
  let tell: (event: ApprovalEvent) => void = () => {};
  let outcome: (
    answer: PersonAnswer,
    approval: Approval,
  ) => { outcome: 'invalid'; problem: string; part: 'updatedInput' } | undefined = () => undefined;
  const known = new Map<string, Approval>();
  let onAnswer: () => void = () => {};
  const prompt = new ApprovalPrompt({
    terminal,
    paint: painter(false),
    by: 'local',
    readable,
    coordinator: {
      subscribe(listener) {
        tell = listener;
        return () => {};
      },
      attend(principal) {
        attended.push(principal);
        return () => void attended.pop();
      },
      async decide(id, answer) {
        answers.push({ id, ...answer });
        const approval = known.get(id) ?? approvalOf();
        const refused = outcome(answer, approval);
        onAnswer();
        return refused ?? { outcome: 'decided', approval, released: [], refused: [], rules: [] };
      },
    },
  });
  return {
    prompt,
    terminal,
    answers,
    attended,
    ask(approval: Approval) {
      known.set(approval.id, approval);
      tell({ type: 'requested', approval });
    },
    resolve: (approval: Approval) => tell({ type: 'resolved', approval }),
    refuse(with_: typeof outcome) {
      outcome = with_;
    },
    answered: () =>
      new Promise<void>((resolve) => {
        onAnswer = resolve;
      }),
  };
}

describe('the approval prompt', () => {
  it('allows with the digest that was shown', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    ask(approvalOf());
    const done = answered();
    await terminal.type('y');
    await done;
    expect(answers).toEqual([{ id: 'ap_1', decision: 'allow', digest: 'd1', by: 'local', via: 'terminal' }]);
  });

  it('denies with the reason', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    ask(approvalOf());
    const done = answered();
    await terminal.type('n use pnpm');
    await done;
    expect(answers[0]).toMatchObject({ decision: 'deny', reason: 'use pnpm' });
  });

  it('asks again after an answer that it does not understand', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    ask(approvalOf());
    await terminal.type('maybe');
    const done = answered();
    await terminal.type('y');
    await done;
    expect(answers).toHaveLength(1);
    expect(terminal.shown()).toContain('Type one of the letters');
  });

  it('asks only when the card could be read', async () => {
    let onRead = () => {};
    const { ask, answered, terminal } = promptOf({
      readable: () =>
        new Promise((resolve) => {
          onRead = resolve;
        }),
    });
    ask(approvalOf());
    expect(terminal.shown()).toContain('yes, this once');
    expect(terminal.shown()).not.toContain('your answer');
    onRead();
    const done = answered();
    await terminal.type('y');
    await done;
  });

  it('sends the changed input, and asks again where it cannot be used', async () => {
    const { ask, answers, answered, refuse, terminal } = promptOf();
    refuse(({ updatedInput }) =>
      updatedInput === undefined
        ? undefined
        : { outcome: 'invalid', part: 'updatedInput', problem: 'command: expected a text' },
    );
    ask(approvalOf());
    await terminal.type('e');
    await terminal.type('{"command":1}');
    expect(answers[0]).toMatchObject({ updatedInput: { command: 1 } });
    const done = answered();
    await terminal.type('n');
    await done;
    expect(terminal.shown()).toContain('command: expected a text');
    expect(answers).toHaveLength(2);
  });

  it('asks one after the other', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    ask(approvalOf());
    ask(approvalOf({ id: 'ap_2', digest: 'd2' }));
    const first = answered();
    await terminal.type('y');
    await first;
    const second = answered();
    await terminal.type('n');
    await second;
    expect(answers.map(({ id, decision }) => [id, decision])).toEqual([
      ['ap_1', 'allow'],
      ['ap_2', 'deny'],
    ]);
  });

  it('takes the card away when somebody else has decided, and says who', async () => {
    const { ask, answers, answered, resolve, terminal } = promptOf();
    ask(approvalOf());
    ask(approvalOf({ id: 'ap_2' }));
    resolve(approvalOf({ state: 'denied', decision: { at: 1, by: 'alice', via: 'console' } }));
    const done = answered();
    await terminal.type('y');
    await done;
    expect(terminal.shown()).toContain('Denied by alice (console).');
    expect(answers.map(({ id }) => id)).toEqual(['ap_2']);
  });

  it('turns answers to questions into input', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    const questions = [
      { question: 'Which one?', options: [{ label: 'Red' }, { label: 'Blue' }] },
      { question: 'Why?', options: [{ label: 'Fast' }, { label: 'Cheap' }], multiSelect: true },
    ];
    ask(
      approvalOf({
        input: { questions },
        describe: { title: 'A question', kind: 'question', paths: [], questions },
      }),
    );
    await terminal.type('2');
    const done = answered();
    await terminal.type('1, 2');
    await done;
    expect(answers[0]).toMatchObject({
      decision: 'allow',
      updatedInput: { questions, answers: { 'Which one?': 'Blue', 'Why?': 'Fast, Cheap' } },
    });
  });

  it('gives the answer to the text of the question, not to what is shown of it', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    const raw = [{ question: 'Which\u200bone?', options: [{ label: 'Re\u202ed' }, { label: 'Blue' }] }];
    const shown = [
      { question: 'Which\\u{200b}one?', options: [{ label: 'Re\\u{202e}d' }, { label: 'Blue' }] },
    ];
    ask(
      approvalOf({
        input: { questions: raw },
        describe: { title: 'A question', kind: 'question', paths: [], questions: shown },
      }),
    );
    const done = answered();
    await terminal.type('1');
    await done;
    expect(answers[0]).toMatchObject({ updatedInput: { answers: { 'Which\u200bone?': 'Re\u202ed' } } });
  });

  it('denies when the terminal is gone', async () => {
    const { ask, answers, answered, terminal } = promptOf();
    ask(approvalOf());
    const done = answered();
    await terminal.type(undefined);
    await done;
    expect(answers[0]).toMatchObject({ decision: 'deny', reason: 'the terminal was closed' });
  });

  it('counts as somebody who is there until it is closed', () => {
    const { prompt, attended } = promptOf();
    expect(attended).toEqual([undefined]);
    prompt.close();
    expect(attended).toEqual([]);
  });
});
