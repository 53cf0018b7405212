import { describe, expect, it } from 'vitest';
import { manyTools } from '../../../test/support/many-tools.js';
import type { ToolDefinition } from '../../core/conversation.js';
import { rankTools, termsOf } from './rank-tools.js';

const names = (tools: readonly ToolDefinition[]) => tools.map(({ name }) => name);
const found = (query: string, tools: readonly ToolDefinition[], most = 5) =>
  names(rankTools(query, tools, most));

describe('words of a query', () => {
  it('are found inside of names, whatever their case, number and accents', () => {
    expect(termsOf('listPullRequests mcp__git-hub__Get_Issues Café 2fa')).toEqual([
      ...['list', 'pull', 'request', 'mcp', 'git', 'hub', 'get', 'issue', 'cafe', '2fa'],
    ]);
    expect(termsOf('classes repositories')).toEqual(['classe', 'repository']);
  });

  it('are pairs of characters where a script has no spaces', () => {
    expect(termsOf('发送邮件')).toEqual(['发送', '送邮', '邮件']);
    expect(termsOf('雨 rain')).toEqual(['雨', 'rain']);
  });
});

describe('ranking', () => {
  it('finds what is meant among 500 tools', () => {
    const tools = manyTools(500);
    expect(found('create an issue on GitHub', tools)[0]).toBe('mcp__github__create_issue');
    expect(found('delete slack channels', tools)[0]).toBe('mcp__slack__delete_channel');
  });

  it('finds a tool by a parameter alone', () => {
    const tools = [
      { name: 'a', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } },
      { name: 'b', inputSchema: { type: 'object', properties: { invoice: { type: 'string' } } } },
    ];
    expect(found('city', tools)).toEqual(['a']);
  });

  it('finds tools that are described in Chinese and in Russian', () => {
    const tools = [
      { name: 'x1', description: '发送一封电子邮件给收件人。' },
      { name: 'x2', description: '查询某个城市的天气预报。' },
      { name: 'x3', description: 'Показывает погоду в городе.' },
    ];
    expect(found('天气怎么样', tools)).toEqual(['x2']);
    expect(found('给他发电子邮件', tools)[0]).toBe('x1');
    expect(found('погоду', tools)).toEqual(['x3']);
  });

  it('puts a tool first that is called by its whole name', () => {
    const tools = manyTools(500);
    expect(found('select:mcp__jira__get_page, mcp__figma__get_comment', tools).slice(0, 2).sort()).toEqual([
      'mcp__figma__get_comment',
      'mcp__jira__get_page',
    ]);
  });

  it('finds nothing where no word is known', () => {
    expect(found('zzzz', manyTools(50))).toEqual([]);
    expect(found('   ', manyTools(50))).toEqual([]);
  });

  it('gives no more room to a server that fills its descriptions with every word', () => {
    const stuffed = 'create issue github list delete slack channel '.repeat(500);
    const hostile = Array.from({ length: 50 }, (_, index) => ({
      name: `mcp__evil__create_issue_github_${index}`,
      description: stuffed,
    }));
    const result = found('create an issue on GitHub', [...hostile, ...manyTools(500)]);
    expect(result).toContain('mcp__github__create_issue');
    expect(result.filter((name) => name.startsWith('mcp__evil__')).length).toBeLessThanOrEqual(3);
  });

  it('answers quickly and whole for tools whose schema is odd', () => {
    const loop: Record<string, unknown> = { type: 'object' };
    loop['properties'] = { self: loop };
    const tools = [{ name: 'odd', inputSchema: loop }, { name: 'none' }];
    expect(found('self', tools)).toEqual(['odd']);
  });
});
