// An app on the OpenAI Agents SDK as its documentation shows it. Runs in the folder of the library; prints JSON lines.
import process from 'node:process';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';

const { GATEWAY, MODEL, PROVIDER, PROMPTS, STREAM } = process.env;
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const modelProvider = new OpenAIProvider({
  baseURL: `${GATEWAY}/v1`,
  apiKey: 'client-key',
  useResponses: PROVIDER === 'openai',
});
const runner = new Runner({ modelProvider, tracingDisabled: true });
const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `Sunny in ${city}`,
});
const agent = new Agent({ name: 'Guide', instructions: 'You help.', model: MODEL, tools: [weather] });

let history = [];
for (const prompt of JSON.parse(PROMPTS)) {
  try {
    const result = await runner.run(agent, [...history, { role: 'user', content: prompt }], {
      stream: STREAM === '1',
    });
    if (STREAM === '1') await result.completed;
    history = result.history;
    print({ type: 'answer', text: result.finalOutput });
  } catch (error) {
    print({ type: 'failed', message: String(error), status: error?.status });
  }
}
