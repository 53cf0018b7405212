import type { ReactNode } from 'react';
import { useText } from '../text/language.js';
import { type Arming, useArming } from './arming.js';
import { strings } from './strings.js';

/** Buttons that decide. They stay in sight while what is above them is longer than the window. */
export function ButtonRow({ children }: { children: (guard: Arming['guard']) => ReactNode }) {
  const text = useText(strings);
  const { ref, guard, armed, refused } = useArming();
  return (
    <div
      ref={ref}
      data-armed={armed}
      className="sticky bottom-0 z-10 -mx-3 -mb-3 flex flex-wrap items-center gap-2 border-t border-line rounded-b-lg bg-surface px-3 py-2"
    >
      {children(guard)}
      {refused && (
        <p role="status" className="basis-full text-xs text-warn">
          {text.justMoved}
        </p>
      )}
    </div>
  );
}
