/** What people call a session, and where they keep it. */
import * as z from 'zod';
import { SESSION_MODES, type SessionLabels } from '../../store/sessions.js';
import { wellFormed } from '../../tools/runtime/clean-text.js';
import { TITLE_MAX_LENGTH } from './wire/sessions.js';

/** Controls, signs that turn the direction of what follows, and those that take no room: a title is one line, as it looks. */
const UNSEEN =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

export function cleanTitle(given: string): string {
  return wellFormed(given.replace(/\s+/g, ' ').replace(UNSEEN, '')).trim();
}

const title = z
  .string()
  .transform(cleanTitle)
  .refine((clean) => clean.length <= TITLE_MAX_LENGTH, `at most ${TITLE_MAX_LENGTH} characters`)
  .transform((clean) => (clean === '' ? null : clean));

export const labelsBody = z
  .object({
    title: title.nullable(),
    pinned: z.boolean(),
    archived: z.boolean(),
    mode: z.enum(SESSION_MODES, `expected null or one of ${SESSION_MODES.join(', ')}`).nullable(),
  })
  .partial()
  .refine(
    (given) => [given.title, given.pinned, given.archived, given.mode].some((each) => each !== undefined),
    'expected title, pinned, archived or mode',
  )
  .transform(
    ({ title: named, pinned, archived, mode }): SessionLabels => ({
      ...(named !== undefined && { title: named }),
      ...(pinned !== undefined && { pinned }),
      ...(archived !== undefined && { archived }),
      ...(mode !== undefined && { mode }),
    }),
  );
