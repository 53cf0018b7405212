import { describe, expect, it } from 'vitest';
import { NOW } from '../../../test/support/demo-requests.js';
import { findFacts } from './facts.js';
import { findNames } from './names.js';

describe('findFacts', () => {
  it.each<readonly [text: string, ...facts: string[]]>([
    ['read "a b.txt" and ./src/x.ts', 'quoted a b.txt', 'path ./src/x.ts'],
    ['fetch https://example.com/a?b=1.', 'url https://example.com/a?b=1'],
    ['看看 https://example.com/页。', 'url https://example.com/页'],
    ['what is example.com', 'host example.com'],
    ['ask bob@x.com', 'email bob@x.com'],
    ['run `npm test`', 'code npm test'],
    ['say “hi” 「你好」 and ‘so’', 'quoted hi', 'quoted 你好', 'quoted so'],
    ["don't use 'x y', it's", 'quoted x y'],
    ['read "src/a.ts"', 'quoted src/a.ts', 'path src/a.ts'],
    ['evaluate "2+2"', 'quoted 2+2', 'expression 2+2'],
    ['find **/*.ts', 'glob **/*.ts'],
    ['2*3', 'expression 2*3', 'number 2', 'number 3'],
    ['读取报告.txt', 'path 报告.txt'],
    ['in .env and ~/x and C:\\temp\\a.txt', 'path .env', 'path ~/x', 'path C:\\temp\\a.txt'],
    ['and/or 50 km/h', 'number 50'],
    ['open README', 'path README'],
    ['(15+27)/6', 'expression (15+27)/6', 'number 15', 'number 27', 'number 6'],
    ['order #12345 or ABC-123', 'identifier 12345', 'identifier ABC-123'],
    ['100 USD to euros', 'number 100', 'currency USD', 'currency euros'],
    ['to French', 'language French'],
    ['version 1.2.3'],
    ['roll two dice', 'number two'],
    ['两个苹果', 'number 两'],
    ['-4 and 6', 'number -4', 'number 6'],
    ['e.g. this'],
  ])('%s', (text, ...facts) => {
    expect(findFacts(text, NOW).map((fact) => `${fact.kind} ${fact.text}`)).toEqual(facts);
  });

  it.each<readonly [text: string, kind: string, iso: string]>([
    ['on 2024-05-01', 'date', '2024-05-01'],
    ['on 5/1/2024', 'date', '2024-05-01'],
    ['March 5th, 2026', 'date', '2026-03-05'],
    ['5 March', 'date', '2025-03-05'],
    ['2025年3月5日', 'date', '2025-03-05'],
    ['3月5号', 'date', '2025-03-05'],
    ['tomorrow', 'date', '2025-01-02'],
    ['后天', 'date', '2025-01-03'],
    ['next Friday', 'date', '2025-01-03'],
    ['下周三', 'date', '2025-01-08'],
    ['at 17:30', 'time', '17:30:00'],
    ['at 5pm', 'time', '17:00:00'],
    ['12 am', 'time', '00:00:00'],
    ['下午3点半', 'time', '15:30:00'],
    ['noon', 'time', '12:00:00'],
  ])('%s', (text, kind, iso) => {
    expect(findFacts(text, NOW)).toMatchObject([{ kind, code: iso }]);
  });

  it.each(['31/31/2024', '2024-13-01', '25:00', '2月31日'])('%s is no date or time', (text) => {
    expect(findFacts(text, NOW).filter(({ kind }) => kind === 'date' || kind === 'time')).toEqual([]);
  });

  it('is quick on text that is made to be slow', () => {
    for (const unit of [
      'a',
      '-',
      '*',
      '/',
      '.',
      '"',
      "'",
      '(',
      'a.',
      '1+',
      '<system-reminder>',
      '`',
      ' @',
      '和',
    ]) {
      const text = unit.repeat(4_000 / unit.length);
      findNames(text, findFacts(text, NOW));
    }
  });
});

describe('findNames', () => {
  it.each<readonly [text: string, ...names: string[]]>([
    ['weather in Paris and in Tokyo', 'in Paris', 'in Tokyo'],
    ['in Paris, London and Rome', 'in Paris', 'in London', 'in Rome'],
    ['in San Francisco, CA', 'in San Francisco, CA'],
    ['in Paris, France today', 'in Paris, France'],
    ['in the Isle of Man please', 'in Isle of Man'],
    ['in new york tomorrow', 'in new york'],
    ["Tokyo's weather", 'proper Tokyo'],
    ['price of Apple stock', 'of Apple'],
    ['What is it? I am here', ...[]],
    ['for 3 days in May', ...[]],
    ['北京和上海的天气', 'chunk 北京', 'chunk 上海'],
    ['从北京到上海', '从 北京', '到 上海'],
    ['明天上海会下雨吗', 'chunk 上海'],
    ['tokyo 的天气', 'chunk tokyo'],
    ['给张三发消息', '给 张三'],
  ])('%s', (text, ...names) => {
    expect(findNames(text, findFacts(text, NOW)).map((name) => `${name.role} ${name.text}`)).toEqual(names);
  });
});
