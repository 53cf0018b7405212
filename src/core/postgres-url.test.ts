import { describe, expect, it } from 'vitest';
import { isPostgresUrl, readPostgresUrl } from './postgres-url.js';

describe('readPostgresUrl', () => {
  it('reads every part, decoded', () => {
    expect(
      readPostgresUrl(
        'PostgreSQL://m%40e:p%2Fw%25@db.example:5433/tool%20gate?sslmode=verify-ca&sslrootcert=./ca.pem',
      ),
    ).toEqual({
      host: 'db.example',
      port: 5433,
      database: 'tool gate',
      user: 'm@e',
      password: 'p/w%',
      sslmode: 'verify-ca',
      files: { sslrootcert: './ca.pem' },
    });
  });

  it('has the usual port, no user and no TLS where nothing is said', () => {
    const none = { user: undefined, password: undefined, sslmode: 'disable', files: {} };
    expect(readPostgresUrl('postgres://[::1]/x')).toEqual({
      host: '::1',
      port: 5432,
      database: 'x',
      ...none,
    });
  });

  it('takes the folder of a socket as a parameter', () => {
    expect(readPostgresUrl('postgres://me@localhost/x?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
    });
  });

  it('checks the certificate whole where an authority is named and no mode', () => {
    expect(readPostgresUrl('postgres://h/x?sslrootcert=a')).toMatchObject({ sslmode: 'verify-full' });
  });

  it.each([
    ['postgres://me:hun/ter22@host/db', 'special characters'],
    ['postgres://me:hunter22@host', 'no database'],
    ['postgres://me:hunter22@host/a/b', 'no database'],
    ['postgres:///db', 'no host'],
    ['postgres://me:hunter22%zz@host/db', '%25'],
    ['postgres://me:hunter22@host/db?sslmode=prefer', 'sslmode to be one of disable, require'],
    ['postgres://me:hunter22@host/db?pool=3', 'got pool'],
  ])('says what is wrong with %s, without the password', (url, words) => {
    const read = readPostgresUrl(url);
    if (!('problem' in read)) throw new Error('It was taken.');
    expect(read.problem).toContain(words);
    expect(read.problem).not.toContain('hun');
  });
});

it('knows its scheme in any case, and no other', () => {
  expect(['postgres:x', 'POSTGRESQL://x', 'mysql://x', 'xpostgres:'].map(isPostgresUrl)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
