import {
  cloneElement,
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  type ReactElement,
  useEffect,
  useId,
  useRef,
} from 'react';

const AFTER_MS = 400;
const GAP = 6;
const EDGE = 8;

/**
 * More about something that has its name already: what is only in a tooltip is missed on a phone.
 * Shown for the pointer and for the keyboard, gone with Escape.
 */
export function Tooltip({
  text,
  children,
}: {
  text: string;
  children: ReactElement<Record<string, unknown>>;
}) {
  const id = useId();
  const around = useRef<HTMLSpanElement>(null);
  const popup = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = () => {
    const target = around.current?.firstElementChild;
    if (popup.current === null || !(target instanceof Element)) return;
    if (!popup.current.matches(':popover-open')) popup.current.showPopover();
    place(popup.current, target);
  };
  const hide = () => {
    clearTimeout(timer.current);
    if (popup.current?.matches(':popover-open')) popup.current.hidePopover();
  };
  const later = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(show, AFTER_MS);
  };
  const handlers = {
    onPointerEnter: ({ pointerType }: PointerEvent) => pointerType === 'mouse' && later(),
    onPointerLeave: hide,
    onPointerDown: hide,
    onFocus: ({ target }: FocusEvent) => target.matches(':focus-visible') && show(),
    onBlur: hide,
    onKeyDown: ({ key }: KeyboardEvent) => key === 'Escape' && hide(),
  };
  return (
    <span ref={around} className="contents" {...handlers}>
      {cloneElement(children, { 'aria-describedby': id })}
      <span
        ref={popup}
        id={id}
        role="tooltip"
        popover="manual"
        className="fixed inset-auto m-0 max-w-80 rounded-md border-0 bg-ink px-2 py-1 text-xs break-words whitespace-pre-line text-bg shadow"
      >
        {text}
      </span>
    </span>
  );
}

/** Above its target where there is room, else below; never beyond the edge of the window. */
function place(popup: HTMLElement, target: Element): void {
  const around = target.getBoundingClientRect();
  const own = popup.getBoundingClientRect();
  const above = around.top - own.height - GAP;
  const left = around.left + around.width / 2 - own.width / 2;
  popup.style.top = `${above >= EDGE ? above : around.bottom + GAP}px`;
  popup.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - own.width - EDGE))}px`;
}
