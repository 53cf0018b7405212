/** Bodies of `/api` that have exact fields: errors name the one that is wrong. */
import type * as z from 'zod';
import { describeIssue } from '../../config/describe-issue.js';
import { nearest } from '../../config/nearest.js';
import { GatewayError } from '../../core/errors.js';

/** Throws `invalid_request`. */
export function read<T>(schema: z.ZodType<T> & { shape: object }, body: unknown): T {
  const parsed = schema.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw wrong('', 'invalid');
  const path = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') throw wrong(path, describeIssue(issue, true));
  const [key = ''] = issue.keys;
  const close = nearest(key, Object.keys(schema.shape));
  throw wrong(
    [path, key].filter(Boolean).join('.'),
    `unknown field${close === undefined ? '' : `; did you mean ${close}?`}`,
  );
}

export function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param === '' ? 'The body' : param}: ${problem}.`, {
    ...(param === '' ? {} : { param }),
  });
}
