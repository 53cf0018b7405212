/** Single keys that answer a question, while nobody types. */
import { type RefObject, useEffect, useRef } from 'react';

type KeyActions = Readonly<Record<string, ((event: { detail: number }) => void) | undefined>>;

/**
 * They act on the question that has the focus, or on the only one in the page where nothing has it and
 * its buttons are in sight.
 * A key that is held down, or pressed with another, is none of them.
 */
export function useKeys(row: RefObject<HTMLElement | null>, actions: KeyActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.isComposing) return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const act = latest.current[event.key];
      const panel = row.current?.closest('[data-approval]');
      if (act === undefined || panel === undefined || panel === null) return;
      if (row.current === null || !isMeant(panel, row.current)) return;
      event.preventDefault();
      act({ detail: 0 });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [row]);
}

const TYPING = 'input, textarea, select, [contenteditable], [role=dialog], [role=menu]';

function isMeant(panel: Element, button: Element): boolean {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) {
    const others = document.querySelectorAll('[data-approval-state=pending]');
    if (others.length !== 1 || others[0] !== panel || document.querySelector('[role=dialog]') !== null)
      return false;
    return isInSight(button, (x, y) => document.elementFromPoint(x, y));
  }
  return panel.contains(focused) && focused.closest(TYPING) === null;
}

/** Parts of its width; something small may lie over one of them. */
const LOOKED_AT = [0.1, 0.5, 0.9];

/** Neither scrolled away nor covered. `topmost`: what is seen at a point of the window. */
export function isInSight<Seen>(
  element: { getBoundingClientRect(): Box; contains(other: Seen | null): boolean },
  topmost: (x: number, y: number) => Seen | null,
): boolean {
  const { left, top, width, height } = element.getBoundingClientRect();
  return LOOKED_AT.some((part) => {
    const seen = topmost(left + width * part, top + height / 2);
    return seen !== null && element.contains(seen);
  });
}

type Box = Pick<DOMRect, 'left' | 'top' | 'width' | 'height'>;
