import { describe, expect, it } from 'vitest';
import { readModelList } from './read-model-list.js';

describe('readModelList', () => {
  it.each([
    [
      'OpenAI',
      { object: 'list', data: [{ id: 'gpt', created: 5, object: 'model' }] },
      [{ id: 'gpt', created: 5 }],
    ],
    ['Anthropic', { data: [{ id: 'c', display_name: 'C', type: 'model' }] }, [{ id: 'c', displayName: 'C' }]],
    ['vLLM', { data: [{ id: 'q', max_model_len: 4096 }] }, [{ id: 'q', contextWindow: 4096 }]],
    ['Gemini', { data: [{ id: 'models/gemini' }] }, [{ id: 'gemini' }]],
    ['nonsense', { data: [{}, null, 3, { id: '' }] }, []],
    [
      'a time that is none',
      {
        data: [
          { id: 'a', created: 1e300 },
          { id: 'b', created: -1 },
        ],
      },
      [{ id: 'a' }, { id: 'b' }],
    ],
    ['an error page', 'oops', undefined],
  ])('%s', (_name, body, expected) => {
    expect(readModelList(body)).toEqual(expected);
  });
});
