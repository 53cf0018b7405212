/**
 * Buttons that decide something ignore a press within 400 ms of appearing or moving: it was meant for
 * what was there before. The second press of a double click is always ignored.
 */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

const ARMING = {
  restMs: 400,
  sampleMs: 100,
  /** Less is no move: rounding, and the caret of a field. */
  movePx: 2,
};

interface Point {
  x: number;
  y: number;
}

interface Watched {
  /** Where it is now; undefined while it is not in the page. */
  position: () => Point | undefined;
  last: Point | undefined;
  appearedAt: number;
  movedAt: number;
  /** Called with every sample. */
  onArmed?: ((armed: boolean) => void) | undefined;
}

const watched = new Set<Watched>();
let timer: ReturnType<typeof setInterval> | undefined;

export function sample(each: Watched, now: number): void {
  const position = each.position();
  if (position === undefined) return;
  const { last } = each;
  const moved =
    last === undefined ||
    Math.abs(position.x - last.x) > ARMING.movePx ||
    Math.abs(position.y - last.y) > ARMING.movePx;
  if (!moved) return;
  each.last = position;
  each.movedAt = now;
}

export type { Watched };

/** `byPointer`: a key press does not go to another button because the page moved. */
export function isArmed(each: Watched, now: number, byPointer: boolean): boolean {
  sample(each, now);
  return now - (byPointer ? each.movedAt : each.appearedAt) >= ARMING.restMs;
}

function watch(each: Watched): () => void {
  watched.add(each);
  timer ??= setInterval(() => {
    const now = performance.now();
    for (const one of watched) one.onArmed?.(isArmed(one, now, true));
  }, ARMING.sampleMs);
  return () => {
    watched.delete(each);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Of a mouse, how many clicks it was; 0 for a key. */
type Press = { detail: number };

export interface Arming {
  /** For the element that contains the buttons. */
  ref: RefObject<HTMLDivElement | null>;
  /** Accepts a press, or sets `refused`. */
  guard: (press: () => void) => (event: Press) => void;
  /** Whether a press by pointer would be accepted, for the look of the buttons. */
  armed: boolean;
  /** The last press was ignored. */
  refused: boolean;
}

export function useArming(): Arming {
  const ref = useRef<HTMLDivElement | null>(null);
  const own = useRef<Watched>(undefined);
  const [refused, setRefused] = useState(false);
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    const now = performance.now();
    const each: Watched = {
      position: () => {
        const box = ref.current?.getBoundingClientRect();
        return box === undefined ? undefined : { x: box.left, y: box.top };
      },
      last: undefined,
      appearedAt: now,
      movedAt: now,
      onArmed: setArmed,
    };
    sample(each, now);
    own.current = each;
    return watch(each);
  }, []);
  const guard = useCallback(
    (press: () => void) => (event: Press) => {
      // A key press has no number; of a double click the second is number two.
      if (event.detail > 1) return;
      const each = own.current;
      const taken = each !== undefined && isArmed(each, performance.now(), event.detail > 0);
      setRefused(!taken);
      if (taken) press();
      else setArmed(false);
    },
    [],
  );
  return { ref, guard, armed, refused };
}
