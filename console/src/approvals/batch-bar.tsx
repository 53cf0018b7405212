import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { ButtonRow } from './button-row.js';
import { inboxStrings } from './inbox-strings.js';
import type { SharedDecision } from './use-batch.js';

/** Decides what is selected, in whichever sessions it is; in sight while anything is. */
export function BatchBar({ batch }: { batch: SharedDecision }) {
  const text = useText(inboxStrings);
  const { chosen, leftOut, busy } = batch;
  const count = chosen.length;
  if (count === 0) return null;
  const sessions = new Set(chosen.map(({ session }) => session)).size;
  return (
    <div className="sticky bottom-0 z-20 rounded-lg border border-accent/40 bg-surface px-3 pb-3 shadow-lg">
      <ButtonRow>
        {(guard) => (
          <>
            <span className="min-w-40 flex-1 text-sm">
              {text.selected(count)} {text.sessions(sessions)}
              {leftOut > 0 && <span className="block text-xs text-muted">{text.leftOut(leftOut)}</span>}
            </span>
            <Button variant="primary" busy={busy} onClick={guard(() => void batch.decideAll('allow'))}>
              {text.allowSelected(count)}
            </Button>
            <Button busy={busy} onClick={guard(() => void batch.decideAll('deny'))}>
              {text.denySelected(count)}
            </Button>
            <Button variant="ghost" disabled={busy} onClick={batch.clear}>
              {text.clear}
            </Button>
          </>
        )}
      </ButtonRow>
    </div>
  );
}
