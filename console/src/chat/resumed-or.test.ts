import { describe, expect, it } from 'vitest';
import { ApiError, Unreachable } from '../data/api.js';
import { resumedOr } from './resumed-or.js';

const conflict = (code: string | null): ApiError =>
  new ApiError(409, { error: { message: 'A turn runs.', type: 'conflict', param: null, code } });

async function tried(resume: () => Promise<string>) {
  let otherwise = 0;
  const result = await resumedOr(resume, async () => {
    otherwise += 1;
  }).catch((error: unknown) => error);
  return { result, otherwise };
}

describe('going on with a turn', () => {
  it('does nothing else where it worked', async () => {
    expect(await tried(async () => 'started')).toEqual({ result: 'started', otherwise: 0 });
  });

  it('does something else where the gateway has nothing to go on with', async () => {
    const refused = () => Promise.reject(conflict('nothing_to_resume'));
    expect(await tried(refused)).toEqual({ result: undefined, otherwise: 1 });
  });

  it.each([
    ['a turn runs', conflict('session_busy')],
    ['a conflict has no name', conflict(null)],
    ['nobody answers', new Unreachable('The gateway does not answer.')],
  ])('says so, and does nothing else, where %s', async (_what, error) => {
    expect(await tried(() => Promise.reject(error))).toEqual({ result: error, otherwise: 0 });
  });
});
