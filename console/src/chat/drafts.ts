/** What was written and not sent, by conversation. Kept for this tab, over reloads. */

const PREFIX = 'toolgate.draft.';
const NEW = 'new';

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export function readDraft(session: string | undefined, store: Store = sessionStorage): string {
  try {
    return store.getItem(PREFIX + (session ?? NEW)) ?? '';
  } catch {
    return '';
  }
}

/** Where there is no room, or no storage, the text is on the page all the same. */
export function keepDraft(session: string | undefined, text: string, store: Store = sessionStorage): void {
  try {
    if (text === '') store.removeItem(PREFIX + (session ?? NEW));
    else store.setItem(PREFIX + (session ?? NEW), text);
  } catch {
    // Nothing that the person could do about it.
  }
}
