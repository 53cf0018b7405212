import { describe, expect, it } from 'vitest';
import { findFormModel, isForm, readForm, withFormModel } from './multipart-form.js';

const TYPE = 'multipart/form-data; boundary=mark';
const DISPOSITION = 'Content-Disposition: form-data; name="model"';

const form = (...parts: string[]): Buffer =>
  Buffer.from(`${parts.map((part) => `--mark\r\n${part}\r\n`).join('')}--mark--\r\n`, 'latin1');
const named = (name: string, value: string): string =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;

describe('a multipart body', () => {
  it('is read as its parts, with empty values and bytes of any kind', () => {
    const file = 'Content-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: x/y\r\n\r\n';
    const body = form(named('model', 'gpt'), named('empty', ''), `${file}\r\n--\r\n\0\xff`);
    const parts = readForm(body, TYPE);
    expect(
      parts.map(({ name, isFile, from, to }) => [name, isFile, body.toString('latin1', from, to)]),
    ).toEqual([
      ['model', false, 'gpt'],
      ['empty', false, ''],
      ['file', true, '\r\n--\r\n\0\xff'],
    ]);
    const model = findFormModel(body, parts);
    expect(model?.model).toBe('gpt');
    const renamed = model === undefined ? body : withFormModel(body, model, 'other');
    expect(renamed.toString('latin1')).toBe(body.toString('latin1').replace('gpt', 'other'));
  });

  it('may begin with an empty line and have a quoted boundary', () => {
    const body = Buffer.concat([Buffer.from('\r\n'), form(named('a', '1'))]);
    expect(readForm(body, 'Multipart/Form-Data; charset=utf-8; boundary="mark"')).toHaveLength(1);
    expect([isForm(TYPE), isForm('multipart/mixed; boundary=mark'), isForm(undefined)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each([
    [
      'two dispositions of one part',
      form(`${DISPOSITION}\r\n${DISPOSITION.replace('model', 'x')}\r\n\r\ngpt`),
    ],
    ['a folded disposition', form('Content-Disposition: form-data;\r\n name="model"\r\n\r\ngpt')],
    ['a folded line of another header', form(`${DISPOSITION}\r\nX-A: b\r\n\tc\r\n\r\ngpt`)],
    ['a bare line feed in a head', form(`X-A: b\n${DISPOSITION}\r\n\r\ngpt`)],
    ['a name with a blank before its colon', form(`Content-Disposition : form-data; name="x"\r\n\r\ngpt`)],
    [
      'a name in pieces',
      form('Content-Disposition: form-data; name="x"; name*0="mo"; name*1="del"\r\n\r\ngpt'),
    ],
    ['no disposition', form('Content-Type: text/plain\r\n\r\ngpt')],
    ['a disposition that is no field', form('Content-Disposition: attachment; name="model"\r\n\r\ngpt')],
    ['an encoded value', form(`${DISPOSITION}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=67pt`)],
    ['a delimiter behind a line feed alone', form(named('x', `1\n--mark\n${DISPOSITION}\n\ngpt`))],
    ['text before the first delimiter', Buffer.concat([Buffer.from('x'), form(named('a', '1'))])],
    ['text behind the last delimiter', Buffer.concat([form(named('a', '1')), form(named('model', 'gpt'))])],
    ['a delimiter with a tail', Buffer.from(`--marks\r\n${named('a', '1')}\r\n--mark--\r\n`)],
    ['no end', Buffer.from(`--mark\r\n${named('a', '1')}`)],
  ])('with %s is refused', (_what, body) => {
    expect(() => readForm(body, TYPE)).toThrow('not a form that can be read');
  });

  it.each(['multipart/form-data', 'multipart/form-data; boundary=mark; boundary=b', `${TYPE}; boundary*0=b`])(
    'with the type %s is refused',
    (type) => {
      expect(() => readForm(form(named('a', '1')), type)).toThrow('not a form that can be read');
    },
  );

  it('names one model, plainly', () => {
    const find = (...parts: string[]) => {
      const body = form(...parts);
      return findFormModel(body, readForm(body, TYPE))?.model;
    };
    expect(find(named('other', 'gpt'))).toBeUndefined();
    expect(() => find(named('model', 'a'), named('model', 'b'))).toThrow('named twice');
    expect(() => find(named('model', 'a'), named('Model', 'b'))).toThrow('named twice');
    expect(() => find(named(' model', 'a'))).toThrow('not a form that can be read');
  });
});
