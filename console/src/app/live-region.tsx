import { useEffect, useState } from 'react';
import { onAnnounce } from '../ui/announce.js';

/** The one place from which the page speaks. */
export function LiveRegion() {
  const [said, setSaid] = useState({ text: '', turn: 0 });
  useEffect(() => onAnnounce((text) => setSaid(({ turn }) => ({ text, turn: turn + 1 }))), []);
  // The same words are said again only where something changes: a space that cannot be seen.
  return (
    <p role="status" aria-live="polite" className="sr-only" data-announcer="">
      {said.text}
      {said.turn % 2 === 0 ? '' : '\u00a0'}
    </p>
  );
}
