import { ApiError } from '../data/api.js';

/** The gateway's code where the conversation has no turn that can be resumed from here. */
const NOTHING = 'nothing_to_resume';

/**
 * Resumes the interrupted turn, or does something else where there is none. Every other refusal, such
 * as that a turn runs, is shown: the alternative would run beside that turn.
 */
export async function resumedOr<T>(
  resume: () => Promise<T>,
  otherwise: () => Promise<void>,
): Promise<T | undefined> {
  try {
    return await resume();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== NOTHING) throw error;
    await otherwise();
    return undefined;
  }
}
