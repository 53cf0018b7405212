/** Tools that clients bring in the flows. */
import type { ClientTool } from './clients/runners.js';

/** A red square. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC';

const field = (input: unknown, name: string): string => {
  const value = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  return String(value.find(([key]) => key === name)?.[1]);
};

export const WEATHER: ClientTool = {
  name: 'get_weather',
  description: 'The weather in a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: (input) => ({ text: `sunny in ${field(input, 'city')}` }),
};

export const CALCULATE: ClientTool = {
  name: 'calculate',
  description: '执行数学计算',
  schema: {
    type: 'object',
    properties: { expression: { type: 'string', description: '数学表达式' } },
    required: ['expression'],
  },
  run: (input) => ({ text: `${field(input, 'expression')} 的结果是 579` }),
};

export const FAILING: ClientTool = {
  name: 'send_letter',
  description: 'Sends a letter',
  schema: { type: 'object', properties: { to: { type: 'string' } } },
  run: () => ({ text: 'the post office is closed', error: true }),
};

export const QUIET: ClientTool = {
  name: 'do_it',
  description: 'Does it',
  schema: { type: 'object', properties: {} },
  run: () => ({ text: '' }),
};

export const CAMERA: ClientTool = {
  name: 'take_picture',
  description: 'Takes a picture',
  schema: { type: 'object', properties: {} },
  run: () => ({ text: 'a picture of the garden', image: PICTURE }),
};

/** Everything that gets lost on the way through another schema language. */
export const ORDER: ClientTool = {
  name: 'place-order_2',
  description: 'Places an order: “quoted”, 引号, \n and a line',
  schema: {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            sku: { type: 'string', enum: ['a', 'b'] },
            amount: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
          },
          required: ['sku'],
          additionalProperties: false,
        },
      },
      note: {
        anyOf: [
          { type: 'string', description: 'free text' },
          { type: 'array', items: { type: 'string' } },
        ],
      },
    },
    required: ['items'],
  },
  run: (input) => ({ text: `ordered ${JSON.stringify(input)}` }),
};
