import { lazy, type ReactNode, type RefObject, Suspense, useRef } from 'react';
import { loadDialog } from './load.js';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  children: ReactNode;
  /** Buttons; they stay in sight however long the content is. */
  actions?: ReactNode;
  /** `wide` for tables and code. */
  width?: 'normal' | 'wide' | undefined;
  /** What has the focus when it opens; without, the first thing that can have it. */
  initialFocus?: RefObject<HTMLElement | null> | undefined;
}

const DialogView = lazy(async () => ({ default: (await loadDialog()).DialogView }));

/** Takes the focus while it is open and gives it back to where it was. */
export function Dialog(props: DialogProps) {
  const wanted = useRef(false);
  if (props.open) wanted.current = true;
  if (!wanted.current) return null;
  return (
    <Suspense fallback={null}>
      <DialogView {...props} />
    </Suspense>
  );
}
