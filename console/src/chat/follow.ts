/**
 * Keeps a list at its end while the person is there, and never moves it when they are not. A person
 * is away from the end as soon as they have scrolled up; what only grows under them is no scrolling.
 */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface Follow {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** The end is in sight, or will be kept there. */
  atEnd: boolean;
  toEnd: () => void;
}

/** This near to the end counts as there. */
const NEAR_PX = 48;
/** A wheel, a finger or a key moves the list for so long afterwards. */
const INPUT_MS = 1_000;
/** Something was opened or closed: it stays where it is until it has its new size, and is drawn. */
const HOLD_MS = 500;
const LET_GO = ['pointerup', 'pointercancel', 'blur'] as const;
const INPUTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

export function useFollow(): Follow {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const seen = useRef({
    following: true,
    top: 0,
    height: 0,
    input: Number.NEGATIVE_INFINITY,
    held: false,
    pressed: false,
  });

  const settle = useCallback(() => {
    const element = scroller.current;
    const now = seen.current;
    if (element === null) return;
    if (now.following && !now.held && !now.pressed) element.scrollTop = element.scrollHeight;
    now.height = element.scrollHeight;
  }, []);

  const toEnd = useCallback(() => {
    seen.current.following = true;
    seen.current.held = false;
    setAtEnd(true);
    settle();
  }, [settle]);

  useLayoutEffect(settle);

  useEffect(() => {
    const element = scroller.current;
    const inside = content.current;
    if (element === null || inside === null) return;
    const now = seen.current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;
    const forget = (): void => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
    const decide = (): void => {
      const distance = element.scrollHeight - element.clientHeight - element.scrollTop;
      const moved = element.scrollTop < now.top - 1;
      const byPerson = performance.now() - now.input < INPUT_MS || element.scrollHeight === now.height;
      if (distance <= NEAR_PX) now.following = true;
      else if (moved && byPerson) now.following = false;
      now.top = element.scrollTop;
      now.height = element.scrollHeight;
      setAtEnd(now.following);
    };
    const onInput = (): void => {
      now.input = performance.now();
    };
    // What is pressed stays under the finger until it is let go: moved away, it would not be clicked.
    const onPress = (): void => {
      now.pressed = true;
    };
    const onLetGo = (): void => {
      if (!now.pressed) return;
      // The click comes after it.
      setTimeout(() => {
        now.pressed = false;
        settle();
      });
    };
    const release = (): void => {
      if (!now.held) return;
      now.held = false;
      const distance = element.scrollHeight - element.clientHeight - element.scrollTop;
      now.following = now.following && distance <= NEAR_PX;
      setAtEnd(now.following);
    };
    const onClick = ({ target }: Event): void => {
      if (!(target instanceof Element) || target.closest('[aria-expanded], summary') === null) return;
      now.held = true;
      forget();
      // A page that is slow has not drawn it when the time is over: the frame after that has.
      timer = setTimeout(() => {
        // A hidden page has no frames, and nothing to keep in place.
        if (document.hidden) return release();
        frame = requestAnimationFrame(() => {
          frame = requestAnimationFrame(release);
        });
      }, HOLD_MS);
    };
    const sizes = new ResizeObserver(settle);
    sizes.observe(element);
    sizes.observe(inside);
    element.addEventListener('scroll', decide, { passive: true });
    element.addEventListener('click', onClick, { capture: true });
    element.addEventListener('pointerdown', onPress, { capture: true });
    for (const name of LET_GO) window.addEventListener(name, onLetGo, { capture: true });
    for (const name of INPUTS) element.addEventListener(name, onInput, { passive: true });
    return () => {
      forget();
      sizes.disconnect();
      element.removeEventListener('scroll', decide);
      element.removeEventListener('click', onClick, { capture: true });
      element.removeEventListener('pointerdown', onPress, { capture: true });
      for (const name of LET_GO) window.removeEventListener(name, onLetGo, { capture: true });
      for (const name of INPUTS) element.removeEventListener(name, onInput);
    };
  }, [settle]);

  return { scroller, content, atEnd, toEnd };
}
