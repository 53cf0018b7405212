/** How many approvals wait, as the shell shows it: in the navigation, the title and the app's icon. */
import { useEffect } from 'react';
import { useApprovalAnnouncements, useWaitingCount } from '../approvals/waiting.js';

/** For the shell alone: it also says of each new question that it is there. */
export function useWaiting(): number {
  useApprovalAnnouncements();
  return useWaitingCount();
}

/** `(2) Toolgate – Inbox`. */
export function useTitle(page: string, waiting: number, shown: boolean): void {
  useEffect(() => {
    if (!shown) return;
    const name = page === '' ? 'Toolgate' : `Toolgate – ${page}`;
    document.title = waiting === 0 ? name : `(${waiting}) ${name}`;
  }, [page, waiting, shown]);
  useEffect(() => {
    // Of an installed app; where there is none, the browser says so and nothing is missed.
    if (!('setAppBadge' in navigator)) return;
    const told = waiting === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(waiting);
    told.catch(() => {});
  }, [waiting]);
}
