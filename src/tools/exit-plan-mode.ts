/** Lays a plan before the user. The call runs only when the user says yes, perhaps to a plan that they changed. */
import * as z from 'zod';
import type { Tool } from './runtime/tool.js';

/** Further keys are let through: clients add their own (`allowedPrompts`), and none changes what is asked. */
const inputSchema = z.object({
  plan: z.string().trim().min(1).max(200_000).describe('The plan, in Markdown, whole.'),
});

type ExitPlanModeInput = z.output<typeof inputSchema>;

export const exitPlanModeTool: Tool<ExitPlanModeInput> = {
  name: 'ExitPlanMode',
  userFacingName: () => 'Plan approval',
  description: 'Shows the user your plan and waits for their approval before you start on it.',
  inputSchema,
  isReadOnly: () => true,
  isConcurrencySafe: () => false,
  needsPermissions: () => true,
  question: true,
  prompt:
    'Use ExitPlanMode when the user asked for a plan first and you have finished it: the plan must say which ' +
    'files change and how the result is checked. Do not change anything before it is approved, and do not ask ' +
    'for approval in plain text as well. A task that only needs reading needs no plan.',
  async *call(input, context) {
    await context.leavePlan();
    yield {
      type: 'result',
      resultForAssistant:
        'The user approved the plan. You can start now. This is the plan as it was approved; where it differs ' +
        `from yours, the user changed it:\n\n${input.plan}`,
      data: { plan: input.plan },
    };
  },
  describe: (input) => ({
    title: 'Approve a plan',
    kind: 'question',
    paths: [],
    detail: input.plan,
    questions: [
      {
        question: 'Start on this plan?',
        header: 'Plan',
        options: [
          { label: 'Approve', description: 'The agent starts to work on it.' },
          {
            label: 'Keep planning',
            description: 'Nothing is changed; a reason tells the agent what to improve.',
          },
        ],
      },
    ],
  }),
  describeRejected: (input) => ({
    title: 'Plan not approved',
    kind: 'question',
    paths: [],
    detail: input.plan,
  }),
};
