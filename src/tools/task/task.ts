/** Hands a piece of work to an agent with a context of its own, and gives back its report. */
import * as z from 'zod';
import type { ToolContext } from '../runtime/context.js';
import { toJsonSchema } from '../runtime/input-schema.js';
import type { Tool, Validation } from '../runtime/tool.js';
import {
  reportData,
  reportText,
  runSubAgent,
  type SubAgentReach,
  subAgentProblem,
  toolsForSubAgent,
} from './run-sub-agent.js';

interface AgentKind {
  reach: SubAgentReach;
  about: string;
}

const DEFAULT_KIND = 'general-purpose';

/** By `subagent_type`; looked up without regard to case. */
const KINDS: Readonly<Record<string, AgentKind>> = {
  [DEFAULT_KIND]: { reach: 'everything', about: 'has the tools that you have' },
  Explore: { reach: 'reading', about: 'only reads and searches: to find where something is or how it works' },
  Plan: { reach: 'reading', about: 'only reads and searches: to work out how something should be done' },
};

const work = {
  description: z.string().trim().min(1).max(200).describe('The work in three to five words.'),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(200_000)
    .describe('The whole task. The agent sees nothing of this conversation but what stands here.'),
  subagent_type: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe(`Which agent: ${Object.keys(KINDS).join(', ')}. By default ${DEFAULT_KIND}.`),
  model: z.string().trim().min(1).max(200).optional().describe('Another model than your own.'),
};

const offered = z.object(work);

/** What published inputs of this tool also have. Other keys than these are passed over. */
const inputSchema = z.object({
  ...work,
  run_in_background: z.boolean().optional(),
  isolation: z.string().optional(),
});

type TaskInput = z.output<typeof inputSchema>;

export const taskTool: Tool<TaskInput> = {
  name: 'Task',
  aliases: ['Agent'],
  userFacingName: () => 'Sub-agent',
  description:
    'Starts an agent with a context of its own on a piece of work, waits for it, and returns its report.',
  inputSchema,
  inputJSONSchema: toJsonSchema(offered),
  // Each call of the agent is judged by itself: that an agent runs at all changes nothing.
  isReadOnly: () => true,
  // Two that edit would get in each other's way.
  isConcurrencySafe: ({ subagent_type }) => kindOf(subagent_type)?.[1].reach === 'reading',
  needsPermissions: () => false,
  prompt: [
    'Task runs an agent on a piece of work that would fill your own context: a search over many files, a ' +
      'question with several parts, a change that stands by itself. Agents that only read (Explore, Plan) can be ' +
      'started in one message and then run at the same time. An agent starts with nothing but your prompt, so ' +
      'say what you know, what it should do, and what its report must contain; the user does not see the report. ' +
      'Do not use it to read one known file or for one search.',
    'Kinds (subagent_type):',
    ...Object.entries(KINDS).map(([name, { about }]) => `- ${name}: ${about}`),
  ].join('\n'),
  validateInput: (input, context) => validate(input, context),
  async *call(input, context) {
    const [name, kind] = kindOf(input.subagent_type) ?? [DEFAULT_KIND, KINDS[DEFAULT_KIND]];
    const report = yield* runSubAgent(
      {
        description: input.description,
        prompt: input.prompt,
        kind: name,
        tools: toolsForSubAgent(context, kind?.reach ?? 'reading'),
        ...(input.model === undefined ? {} : { model: input.model }),
      },
      context,
    );
    yield {
      type: 'result',
      resultForAssistant: reportText(report),
      data: { description: input.description, agentType: name, ...reportData(report) },
    };
  },
  describe: (input) => ({
    title: `Agent: ${input.description}`,
    kind: 'agent',
    paths: [],
    detail: input.prompt,
  }),
};

function kindOf(wanted: string | undefined): [string, AgentKind] | undefined {
  const name = (wanted ?? DEFAULT_KIND).toLowerCase();
  return Object.entries(KINDS).find(([known]) => known.toLowerCase() === name);
}

function validate(input: TaskInput, context: ToolContext): Validation {
  const problem = subAgentProblem(context) ?? inputProblem(input);
  return problem === undefined ? { ok: true } : { ok: false, message: problem };
}

function inputProblem(input: TaskInput): string | undefined {
  if (kindOf(input.subagent_type) === undefined) {
    return `There is no agent of the kind "${input.subagent_type}". Use one of: ${Object.keys(KINDS).join(', ')}.`;
  }
  if (input.run_in_background === true) {
    return (
      'Agents are not run in the background here: leave run_in_background out. To have several at work at ' +
      'once, start several that only read (Explore, Plan) in one message.'
    );
  }
  if (input.isolation !== undefined) {
    return 'Agents work in the same folder as you; isolation is not offered. Leave it out.';
  }
  return undefined;
}
