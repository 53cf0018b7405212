import { Dialog as Base } from '@base-ui/react/dialog';
import { useText } from '../text/language.js';
import { classes } from './classes.js';
import type { DialogProps } from './dialog.js';
import { IconButton } from './icon-button.js';
import { CloseIcon } from './icons.js';
import { strings } from './strings.js';

export function DialogView({
  open,
  onClose,
  title,
  children,
  actions,
  width = 'normal',
  initialFocus,
}: DialogProps) {
  const text = useText(strings);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/50" />
        <Base.Popup
          initialFocus={initialFocus}
          className={classes(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-surface text-ink shadow-xl outline-none',
            width === 'wide' ? 'max-w-4xl' : 'max-w-lg',
          )}
        >
          <div className="flex items-start gap-3 border-b border-line px-4 py-3">
            <Base.Title className="min-w-0 flex-1 text-base font-semibold break-words">{title}</Base.Title>
            <IconButton label={text.close} size="small" onClick={onClose}>
              <CloseIcon />
            </IconButton>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 text-sm">{children}</div>
          {actions !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{actions}</div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
