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

describe('resumedOr', () => {
  it('does not fall back where the turn resumed', async () => {
    expect(await tried(async () => 'started')).toEqual({ result: 'started', otherwise: 0 });
  });

  it('falls back where the gateway has nothing to resume', async () => {
    const refused = () => Promise.reject(conflict('nothing_to_resume'));
    expect(await tried(refused)).toEqual({ result: undefined, otherwise: 1 });
  });

  it.each([
    ['a turn runs', conflict('session_busy')],
    ['a conflict has no name', conflict(null)],
    ['nobody answers', new Unreachable('The gateway does not answer.')],
  ])('reports the error and does not fall back where %s', async (_what, error) => {
    expect(await tried(() => Promise.reject(error))).toEqual({ result: error, otherwise: 0 });
  });
});
