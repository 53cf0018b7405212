import { Fragment, useMemo } from 'react';
import { visiblePieces } from './visible.js';

/** Text of a model or a file, with what could not be seen marked. Bidi isolated from what is around it. */
export function VisibleText({ text }: { text: string }) {
  const pieces = useMemo(() => visiblePieces(text), [text]);
  return (
    <bdi>
      {pieces.map((piece, index) => {
        const key = `${index}`;
        return piece.hidden ? (
          <mark key={key} className="rounded-sm bg-danger-soft px-px text-danger">
            {piece.text}
          </mark>
        ) : (
          <Fragment key={key}>{piece.text}</Fragment>
        );
      })}
    </bdi>
  );
}
