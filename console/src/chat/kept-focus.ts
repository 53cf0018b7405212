import { useEffect, useState } from 'react';

let focusWanted = false;

/** Whoever was writing goes on writing where the conversation goes on. */
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
