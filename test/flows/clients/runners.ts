/** Loops of the official SDKs that run the client's tools by themselves. */
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { RunnableToolFunctionWithoutParse } from 'openai/lib/RunnableFunction';
import { anthropicClient, openaiClient } from '../../support/sdk.js';
import { imageOf } from './messages-thread.js';
import type { ToolSpec } from './thread.js';

export interface ToolOutput {
  text: string;
  /** A PNG in base64. */
  image?: string;
  error?: boolean;
}

export interface ClientTool extends ToolSpec {
  run(input: unknown): ToolOutput;
}

export interface RunnerOptions {
  url: string;
  key: string;
  model: string;
  stream: boolean;
  prompt: string;
  tools: readonly ClientTool[];
  /** Told of each call, before it runs. */
  onCall(name: string, input: unknown): void;
}

/** Resolves to all text of the answers. */
export type Runner = (options: RunnerOptions) => Promise<string>;

export const withToolRunner: Runner = async ({ url, key, model, stream, prompt, tools, onCall }) => {
  const runner = anthropicClient(url, { apiKey: key }).beta.messages.toolRunner({
    model,
    max_tokens: 4096,
    stream,
    messages: [{ role: 'user', content: prompt }],
    tools: tools.map(({ name, description, schema, run }) => ({
      type: 'custom' as const,
      name,
      description,
      input_schema: schema,
      parse: (input: unknown) => input,
      run: (input: unknown) => {
        onCall(name, input);
        const { text, image, error } = run(input);
        if (error === true) throw new ToolError(text);
        return image === undefined ? text : [{ type: 'text' as const, text }, imageOf(image)];
      },
    })),
  });
  let said = '';
  for await (const answer of runner) {
    const message = 'finalMessage' in answer ? await answer.finalMessage() : answer;
    for (const block of message.content) if (block.type === 'text') said += block.text;
  }
  return said;
};

export const withRunTools: Runner = async ({ url, key, model, stream, prompt, tools, onCall }) => {
  const { completions } = openaiClient(url, { apiKey: key }).chat;
  const runnable = tools.map(
    ({ name, description, schema, run }): RunnableToolFunctionWithoutParse => ({
      type: 'function',
      function: {
        name,
        description,
        parameters: schema,
        function: (json: string) => {
          const input: unknown = JSON.parse(json);
          onCall(name, input);
          return run(input).text;
        },
      },
    }),
  );
  const body = { model, messages: [{ role: 'user' as const, content: prompt }], tools: runnable };
  const runner = stream
    ? completions.runTools({ ...body, stream: true })
    : completions.runTools({ ...body, stream: false });
  await runner.done();
  return runner.messages
    .map(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? content : ''))
    .join('');
};
