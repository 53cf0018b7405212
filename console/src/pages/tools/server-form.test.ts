import { describe, expect, it } from 'vitest';
import { checkForm, configOf, EMPTY_FORM, type ServerForm, yamlOf } from './server-form.js';

const form = (more: Partial<ServerForm>): ServerForm => ({ ...EMPTY_FORM, name: 'docs', ...more });
const STDIO = form({ command: 'npx', args: '-y\n\nsome server\n' });
const WEB = form({ type: 'http', url: ' https://example.com/mcp ' });
const pair = (name: string, value: string, id = 1) => ({ id, name, value });

describe('a new server', () => {
  it('becomes what the configuration holds, for each transport', () => {
    expect(configOf({ ...STDIO, env: [pair('TOKEN', 'x'), pair('', '', 2)] })).toEqual({
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'some server'],
      env: { TOKEN: 'x' },
    });
    expect(configOf({ ...WEB, type: 'sse', shared: false, timeout: '5' })).toEqual({
      type: 'sse',
      url: 'https://example.com/mcp',
      headers: {},
      shared: false,
      timeout_s: 5,
    });
  });

  it('is written for the file without its secrets', () => {
    const text = yamlOf({ ...WEB, headers: [pair('X-Api-Key', 'very secret')] });
    expect(text).toContain(`"X-Api-Key":"\${X_API_KEY}"`);
    expect(text).not.toContain('very secret');
  });
});

describe('the problems of a new server', () => {
  it.each<[string, ServerForm, object]>([
    ['nothing', STDIO, {}],
    ['nothing', WEB, {}],
    ['no name', { ...STDIO, name: ' ' }, { name: 'name-missing' }],
    ['a name with a space', { ...STDIO, name: 'a b' }, { name: 'name-characters' }],
    ['a name that is taken', { ...STDIO, name: 'there' }, { name: 'name-taken' }],
    ['no command', { ...STDIO, command: '' }, { command: 'command-missing' }],
    ['no address', { ...WEB, url: '' }, { url: 'url-missing' }],
    ['another scheme', { ...WEB, url: 'ftp://a' }, { url: 'url-scheme' }],
    ['a header with a space', { ...WEB, headers: [pair('a b', 'x')] }, { headers: 'pair-name' }],
    ['a value without a name', { ...WEB, headers: [pair('', 'x')] }, { headers: 'pair-name' }],
    ['a variable twice', { ...STDIO, env: [pair('A', '1'), pair('A', '2', 2)] }, { env: 'pair-twice' }],
    ['a reference', { ...STDIO, env: [pair('A', `x \${TOKEN}`)] }, { env: 'reference' }],
    ['no time', { ...STDIO, timeout: 'soon' }, { timeout: 'timeout' }],
  ])('are found: %s', (_, given, problems) => {
    expect(checkForm(given, ['there'])).toEqual(problems);
  });
});
