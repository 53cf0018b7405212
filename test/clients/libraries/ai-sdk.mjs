// An app on the Vercel AI SDK as its documentation shows it. Runs in the folder of the library; prints JSON lines.
import process from 'node:process';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const { GATEWAY, MODEL, PROVIDER, PROMPTS, STREAM } = process.env;
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const options = { baseURL: `${GATEWAY}/v1`, apiKey: 'client-key' };
const models = {
  // The default of the OpenAI provider is the Responses API.
  openai: () => createOpenAI(options)(MODEL),
  chat: () => createOpenAI(options).chat(MODEL),
  anthropic: () => createAnthropic(options)(MODEL),
};

const tools = {
  weather: tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `Sunny in ${city}`,
  }),
};

const messages = [];
for (const prompt of JSON.parse(PROMPTS)) {
  messages.push({ role: 'user', content: prompt });
  const call = { model: models[PROVIDER](), tools, messages, stopWhen: stepCountIs(5), maxRetries: 0 };
  try {
    const result = STREAM === '1' ? streamText({ ...call, onError: () => {} }) : await generateText(call);
    if (STREAM === '1') {
      for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
    }
    // Version 6 has all messages of the answer in its response, version 7 under a name of their own.
    messages.push(...((await result.responseMessages) ?? (await result.response).messages));
    print({ type: 'answer', text: await result.text });
  } catch (error) {
    print({ type: 'failed', message: String(error), status: error?.statusCode });
  }
}
