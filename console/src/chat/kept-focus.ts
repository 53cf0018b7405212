import { useEffect, useState } from 'react';

let focusWanted = false;

/** Keeps the focus in the composer when the new conversation opens. */
export function keepFocus(): void {
  focusWanted = document.activeElement instanceof HTMLTextAreaElement;
}

export function useKeptFocus(): boolean {
  const [wanted] = useState(() => focusWanted);
  useEffect(() => {
    focusWanted = false;
  }, []);
  return wanted;
}
