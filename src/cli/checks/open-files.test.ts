import { expect, it } from 'vitest';
import { checkOpenFiles } from './open-files.js';

const limits = (soft: string) =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}   524288  files\n`;

it.each([
  ['256', 'warn'],
  ['4095', 'warn'],
  ['4096', 'ok'],
  ['unlimited', 'ok'],
])('%s open files: %s', (soft, status) => {
  expect(checkOpenFiles(limits(soft))).toMatchObject([{ status }]);
});

it('says what to do about too few, and nothing where the system does not say', () => {
  const [few] = checkOpenFiles(limits('256'));
  expect(few?.finding).toContain('256 files and sockets');
  expect(few?.advice).toContain('ulimit -n 4096');
  expect(checkOpenFiles('')).toEqual([]);
});
