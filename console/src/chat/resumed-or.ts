import { ApiError } from '../data/api.js';

/** What the gateway says where no turn of the conversation can be gone on with from here. */
const NOTHING = 'nothing_to_resume';

/**
 * Goes on with a turn that broke off, or does something else where there is none. Every other refusal,
 * such as that a turn runs, is for the person to read: whatever is done then would be done beside it.
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
