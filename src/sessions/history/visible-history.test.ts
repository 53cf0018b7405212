import { describe, expect, it } from 'vitest';
import { call, result, said, user } from '../../../test/support/sessions-bench.js';
import type { Message } from '../../core/conversation.js';
import { atomsOf, messagesAfter, resultKey } from './visible-history.js';

const keys = (...messages: Message[]) => atomsOf(messages).map(({ key }) => key);
const CODE = 'if a:\n  b\n  c';

describe('the fingerprint of a user message', () => {
  it.each<[string, Message]>([
    ['as blocks, joined by a blank', user('look:', 'it')],
    ['with other ends of lines', user('look:\r\nit')],
    ['with blanks around it', user('  look: it \n')],
    ['with an empty block', user('look: it', '')],
    ['with lines between', user('look:\n\n \nit')],
    ['as blocks that end their lines', user('look:\n', 'it\n')],
  ])('is the same %s', (_, message) => {
    expect(keys(message)).toEqual(keys(user('look: it')));
  });

  it('is the same for blocks and for their lines, indented ones too', () => {
    expect(keys(user('if a:', '  b', '  c'))).toEqual(keys(user(CODE)));
    expect(keys(user(CODE.replaceAll('\n', ' \r\n')))).toEqual(keys(user(CODE)));
  });

  it.each([
    ['without a blank', 'look:it', 'look: it'],
    ['with code that stands elsewhere', 'if a:\n  b\nc', CODE],
    ['with code that stands deeper', 'if a:\n  b\n    c', CODE],
  ])('is something else %s', (_, one, other) => {
    expect(keys(user(one))).not.toEqual(keys(user(other)));
    const [ofOne, ofOther] = [one, other].map((text) => resultKey(result('c', text)));
    expect(ofOne).not.toBe(ofOther);
  });
});

it('a tool result has one fingerprint as one text and as several', () => {
  const texts = ['a', '  b\n', 'c'].map((text) => ({ type: 'text' as const, text }));
  expect(resultKey({ ...result('x', ''), content: texts })).toBe(resultKey(result('x', 'a\n  b\nc')));
});

it('an assistant message has one fingerprint however its texts are joined', () => {
  expect(keys(said('One.', 'Two'), said(' words'))).toEqual(keys(said('One.\n\nTwo words')));
});

describe('fingerprints of a long history take one pass', () => {
  const many = <T>(each: (index: number) => T): T[] => Array.from({ length: 200_000 }, (_, at) => each(at));

  it('over answers alone', () => {
    expect(atomsOf(many(() => said('x')))).toHaveLength(1);
  });

  it('over answers of which the last has a tool call', () => {
    expect(atomsOf([...many(() => said('x')), said(call('c'))])).toHaveLength(1);
  });

  it('over empty answers', () => {
    const messages = [user('a'), ...many(() => said())];
    expect(messagesAfter(messages, atomsOf(messages), 1)).toEqual([]);
  });

  it('over one message of many texts', () => {
    const content = many((at) => ({ type: 'text' as const, text: `${at}` }));
    expect(atomsOf([{ role: 'user', content }])).toHaveLength(1);
  });
});
