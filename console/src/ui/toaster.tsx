import { useSyncExternalStore } from 'react';
import { useText } from '../text/language.js';
import { TONE_SOFT } from './badge.js';
import { classes } from './classes.js';
import { IconButton } from './icon-button.js';
import { CloseIcon } from './icons.js';
import { strings } from './strings.js';
import { dismissToast, onToasts, toasts } from './toast.js';

/** The live region says them; this only shows them, in a corner that covers no buttons. */
export function Toaster() {
  const text = useText(strings);
  const shown = useSyncExternalStore(onToasts, toasts, toasts);
  return (
    <div className="pointer-events-none fixed inset-x-3 top-3 z-60 flex flex-col items-end gap-2 sm:left-auto">
      {shown.map(({ id, text: words, tone }) => (
        <div
          key={id}
          className={classes(
            'pointer-events-auto flex w-full max-w-sm items-start gap-2 rounded-lg border py-2 pr-1.5 pl-3 text-sm shadow-lg',
            TONE_SOFT[tone],
            tone === 'plain' && 'bg-surface text-ink',
          )}
        >
          <span className="min-w-0 flex-1 py-1 break-words">{words}</span>
          <IconButton label={text.dismiss} size="small" onClick={() => dismissToast(id)}>
            <CloseIcon />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
