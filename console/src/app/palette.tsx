/** Everything that can be done, and every conversation, behind Ctrl-K or ⌘K. */
import { lazy, Suspense, useEffect, useState } from 'react';

const PaletteView = lazy(async () => ({ default: (await import('./palette-view.js')).PaletteView }));

interface PaletteState {
  /** It was asked for; it stays loaded from then on. */
  wanted: boolean;
  open: boolean;
}

export function usePalette(): { show: () => void; palette: React.ReactNode } {
  const [{ wanted, open }, setState] = useState<PaletteState>({ wanted: false, open: false });
  const show = () => setState({ wanted: true, open: true });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return;
      // The browser has its own use for it.
      event.preventDefault();
      setState((state) => {
        if (!state.open && document.querySelector('[role=dialog], [role=alertdialog]') !== null) return state;
        return { wanted: true, open: !state.open };
      });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const palette = wanted && (
    <Suspense fallback={null}>
      <PaletteView open={open} onClose={() => setState({ wanted: true, open: false })} />
    </Suspense>
  );
  return { show, palette };
}

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'repeat'>;

function isShortcut({ key, ctrlKey, metaKey, altKey, shiftKey, repeat }: Pressed): boolean {
  return key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey && !repeat;
}

/** How the shortcut is written on this system. */
export const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';
