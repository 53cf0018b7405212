import { expect, it } from 'vitest';
import { referencesIn } from './references.js';

const idsIn = (body: object): string[] => referencesIn(body).map(({ id }) => id);

it('files and skills are found wherever a provider would look for them', () => {
  expect(
    idsIn({
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'a' }] }],
      tools: [{ type: 'code_interpreter', container: { file_ids: ['b', 'c'] } }],
      container: { skills: [{ type: 'custom', skill_id: 'd' }] },
      images: [{ File_Id: 'e' }],
    }).toSorted(),
  ).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('what a provider hands on as it is names nothing', () => {
  expect(
    idsIn({
      metadata: { source_file_id: 'doc-7' },
      tools: [{ name: 'open', input_schema: { examples: [{ file_id: 'x' }] } }],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', name: 'open', input: { file_id: 'x' } }] },
      ],
    }),
  ).toEqual([]);
});
