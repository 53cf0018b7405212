import { useEffect, useRef, useState } from 'react';

/** Files that are dropped anywhere on the page. True while some are dragged over it. */
export function useFileDrop(add: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  useEffect(() => {
    const withFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
    const enter = (event: DragEvent): void => {
      if (!withFiles(event)) return;
      depth.current += 1;
      setOver(true);
    };
    const leave = (): void => {
      depth.current = Math.max(0, depth.current - 1);
      if (depth.current === 0) setOver(false);
    };
    // Without it the browser would open the file in the place of the page.
    const allow = (event: DragEvent): void => {
      if (withFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      if (!withFiles(event)) return;
      event.preventDefault();
      depth.current = 0;
      setOver(false);
      add([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener('dragenter', enter);
    addEventListener('dragleave', leave);
    addEventListener('dragover', allow);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragenter', enter);
      removeEventListener('dragleave', leave);
      removeEventListener('dragover', allow);
      removeEventListener('drop', drop);
    };
  }, [add]);
  return over;
}
