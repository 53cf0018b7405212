import { useCallback, useRef, useState } from 'react';
import { type Attachment, checkFiles, type FileProblem, readFile } from './attachments.js';

export interface Attachments {
  items: readonly Attachment[];
  problems: readonly FileProblem[];
  /** Files are being read. */
  reading: boolean;
  add: (files: readonly File[]) => void;
  remove: (id: string) => void;
  clear: () => void;
}

export function useAttachments(): Attachments {
  const [items, setItems] = useState<readonly Attachment[]>([]);
  const [problems, setProblems] = useState<readonly FileProblem[]>([]);
  const [pending, setPending] = useState(0);
  // Files that are dropped one after another count together before they are drawn.
  const claimed = useRef<{ bytes: number }[]>([]);

  const add = useCallback((files: readonly File[]) => {
    const { fine, problems: found } = checkFiles(files, claimed.current);
    setProblems(found);
    for (const { file, kind } of fine) {
      const claim = { bytes: file.size };
      claimed.current.push(claim);
      setPending((count) => count + 1);
      readFile(file, kind)
        .then(
          (read) => setItems((before) => [...before, read]),
          (problem: FileProblem) => {
            claimed.current = claimed.current.filter((each) => each !== claim);
            setProblems((before) => [...before, problem]);
          },
        )
        .finally(() => setPending((count) => count - 1));
    }
  }, []);

  const remove = useCallback((id: string) => {
    setProblems([]);
    setItems((before) => {
      const rest = before.filter((item) => item.id !== id);
      claimed.current = rest.map(({ bytes }) => ({ bytes }));
      return rest;
    });
  }, []);

  const clear = useCallback(() => {
    claimed.current = [];
    setItems([]);
    setProblems([]);
  }, []);

  return { items, problems, reading: pending > 0, add, remove, clear };
}
