// An app on LangChain as its documentation shows it. Runs in the folder of the library; prints JSON lines.
import process from 'node:process';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const { GATEWAY, MODEL, PROVIDER, PROMPTS, STREAM } = process.env;
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const openai = (useResponsesApi) =>
  new ChatOpenAI({
    model: MODEL,
    apiKey: 'client-key',
    maxRetries: 0,
    useResponsesApi,
    configuration: { baseURL: `${GATEWAY}/v1` },
  });
const models = {
  openai: () => openai(true),
  chat: () => openai(false),
  anthropic: () =>
    new ChatAnthropic({
      model: MODEL,
      apiKey: 'client-key',
      anthropicApiUrl: GATEWAY,
      maxTokens: 1024,
      maxRetries: 0,
    }),
};

const weather = tool(async ({ city }) => `Sunny in ${city}`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});
const model = models[PROVIDER]().bindTools([weather]);

async function ask(messages) {
  if (STREAM !== '1') return model.invoke(messages);
  let whole;
  for await (const chunk of await model.stream(messages))
    whole = whole === undefined ? chunk : whole.concat(chunk);
  return whole;
}

const messages = [];
for (const prompt of JSON.parse(PROMPTS)) {
  messages.push(new HumanMessage(prompt));
  try {
    let answer = await ask(messages);
    messages.push(answer);
    while (answer.tool_calls?.length > 0) {
      for (const call of answer.tool_calls) {
        const content = await weather.invoke(call.args);
        messages.push(new ToolMessage({ content, tool_call_id: call.id }));
      }
      answer = await ask(messages);
      messages.push(answer);
    }
    print({ type: 'answer', text: answer.text });
  } catch (error) {
    print({ type: 'failed', message: String(error), status: error?.status });
  }
}
