import { describe, expect, it } from 'vitest';
import { endUserNamed, endUserOf } from './end-user.js';

const A = '3f9d1c5be0a74e2f8b6d3f9d1c5be0a74e2f8b6d3f9d1c5be0a74e2f8b6d1234';
const composite = (user: string, session: string) => `user_${user}_account__session_${session}`;
const asJson = (device: string, session: string) =>
  JSON.stringify({ device_id: device, account_uuid: '', session_id: session });
const S1 = '0f8fad5b-d9cb-469f-a165-70867728950e';
const S2 = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

describe('the end user of a request', () => {
  it('is nobody where none is named', () => {
    expect(endUserOf({ extensions: {} })).toBeUndefined();
    expect(endUserNamed([undefined, null, '', 7])).toBeUndefined();
  });

  it('is the same on every wire, by whichever field it is named', () => {
    const alice = endUserOf({ userId: 'alice' });
    expect(endUserOf({ extensions: { 'openai-chat': { safety_identifier: 'alice' } } })).toBe(alice);
    expect(endUserOf({ extensions: { 'openai-responses': { safety_identifier: 'alice' } } })).toBe(alice);
    expect(
      endUserOf({ userId: 'alice', extensions: { 'openai-chat': { safety_identifier: 'alice' } } }),
    ).toBe(alice);
    expect(endUserOf({ userId: 'bob' })).not.toBe(alice);
    expect(
      endUserOf({ userId: 'alice', extensions: { 'openai-chat': { safety_identifier: 'bob' } } }),
    ).not.toBe(alice);
  });

  it('is another one where two fields name each other’s', () => {
    const named = (user: string, safety: string) =>
      endUserOf({ userId: user, extensions: { 'openai-chat': { safety_identifier: safety } } });
    expect(named('a', 'b')).not.toBe(named('b', 'a'));
  });

  it('is kept as a digest of one size, never as it was named', () => {
    const user = endUserNamed(['alice@example.com '.repeat(1000)]);
    expect(user).toMatch(/^[\w-]{43}$/);
  });

  it.each([
    ['the composite text', composite(A, S1), composite(A, S2), composite(A.replace('3', '4'), S1)],
    ['JSON', asJson('d1', S1), asJson('d1', S2), asJson('d2', S1)],
  ])('of Claude Code is the user alone, whichever session it is: %s', (_, one, restarted, other) => {
    expect(endUserNamed([restarted])).toBe(endUserNamed([one]));
    expect(endUserNamed([other])).not.toBe(endUserNamed([one]));
  });

  it('is the whole text where that only looks like it', () => {
    for (const [one, two] of [
      ['alice_session_aaaaaaaa', 'alice_session_bbbbbbbb'],
      ['{"session_id":"a"}', '{"session_id":"b"}'],
      ['{"session_id":1,"user":"a"}', '{"session_id":2,"user":"a"}'],
      ['{"app":"shop","session_id":"alice"}', '{"app":"shop","session_id":"bob"}'],
      [
        '{"device_id":"d","session_id":"s","uid":9007199254740993}',
        '{"device_id":"d","session_id":"s","uid":9007199254740992}',
      ],
      ['{"device_id":"d1","session_id":"s"}', '[["device_id","d1"]]'],
      ['{not json', '{not json either'],
      ['[1]', '[2]'],
    ]) {
      expect(endUserNamed([one])).not.toBe(endUserNamed([two]));
    }
  });
});
