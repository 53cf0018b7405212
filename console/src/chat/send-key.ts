/** Enter sends, where there is a keyboard. */

type Pressed = Pick<
  KeyboardEvent,
  'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey' | 'isComposing' | 'keyCode'
>;

/** The last Enter of an input method ends the composition; some browsers report it as this code. */
const COMPOSING_CODE = 229;

export function sendsOnEnter(
  event: Pressed,
  hasKeyboard: boolean = !matchMedia('(pointer: coarse)').matches,
): boolean {
  if (event.key !== 'Enter' || event.isComposing || event.keyCode === COMPOSING_CODE) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return hasKeyboard && !event.shiftKey && !event.altKey;
}

/** Alt goes with it: for after the turn that runs. */
export function queuesOnEnter(event: Pressed): boolean {
  if (event.key !== 'Enter' || event.isComposing || event.keyCode === COMPOSING_CODE) return false;
  return event.altKey && !event.shiftKey && !event.ctrlKey && !event.metaKey;
}
