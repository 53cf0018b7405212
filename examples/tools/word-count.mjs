// A tool of your own. In toolgate.yaml:  tools: { paths: [./examples/tools] }
export const tool = {
  name: 'WordCount',
  description: 'Counts the words of a text.',
  inputJSONSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  isReadOnly: true,
  needsPermissions: false,
  call: async ({ text }) => `${text.split(/\s+/).filter(Boolean).length} words`,
};
