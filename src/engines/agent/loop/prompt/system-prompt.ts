/** The system prompt of one turn: the agent's own, and what the client wrote. */
import type { TextBlock } from '../../../../core/conversation.js';
import type { Tool } from '../../../../tools/runtime/tool.js';
import { LIMITS } from '../../limits.js';
import { environmentBlock } from './environment.js';
import { IDENTITY, SUB_AGENT } from './identity.js';
import { instructionsBlock, readInstructions } from './project-instructions.js';

export interface SystemPromptOptions {
  tools: readonly Tool[];
  root: string;
  cwd: string;
  /** The principal's own, for the list of memories. */
  memoryDir?: string;
  now: number;
  platform: string;
  readable(path: string): boolean;
  /** A tool that cannot say how it is used is offered without. */
  onProblem(tool: string, error: unknown): void;
}

/** The client's own goes behind the agent's, or takes its place where the model is configured so. */
export async function systemPrompt(
  options: SystemPromptOptions,
  client: readonly TextBlock[],
  mode: 'append' | 'replace',
): Promise<TextBlock[]> {
  if (mode === 'replace' && client.some(({ text }) => text.trim() !== '')) return [...client];
  return [{ type: 'text', text: await ownPrompt(IDENTITY, options) }, ...client];
}

/** `replaced`: what the task says in place of the agent's own. */
export async function subAgentPrompt(
  options: SystemPromptOptions,
  replaced: string | undefined,
): Promise<TextBlock[]> {
  const text = await ownPrompt(replaced ?? IDENTITY, options);
  return [{ type: 'text', text: `${text}\n\n# Your task\n${SUB_AGENT}` }];
}

async function ownPrompt(identity: string, options: SystemPromptOptions): Promise<string> {
  const { root, cwd, now, platform, readable } = options;
  const [tools, environment, instructions] = await Promise.all([
    toolPrompts(options),
    environmentBlock({ root, platform, now }),
    readInstructions({ root, cwd, readable }),
  ]);
  return [identity, ...tools, environment, instructionsBlock(instructions)]
    .filter((part) => part !== undefined)
    .join('\n\n');
}

async function toolPrompts({ tools, root, memoryDir, onProblem }: SystemPromptOptions): Promise<string[]> {
  const names = tools.map(({ name }) => name);
  const memory = memoryDir === undefined ? {} : { memoryDir };
  const prompts = await Promise.all(
    tools.map(async (tool) => {
      try {
        const text = (await tool.prompt({ tools: names, cwd: root, ...memory })).trim();
        return text === '' ? [] : [`## ${tool.name}\n${text.slice(0, LIMITS.toolPromptChars)}`];
      } catch (error) {
        onProblem(tool.name, error);
        return [];
      }
    }),
  );
  const said = prompts.flat();
  return said.length === 0 ? [] : [`# Your tools\n${said.join('\n\n')}`];
}
