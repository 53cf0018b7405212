/** Enter sends, where there is a keyboard. */

/** The last Enter of an input method ends the composition; some browsers report it as this code. */
const COMPOSING_CODE = 229;

export function sendsOnEnter(
  event: Pick<
    KeyboardEvent,
    'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey' | 'isComposing' | 'keyCode'
  >,
  hasKeyboard: boolean = !matchMedia('(pointer: coarse)').matches,
): boolean {
  if (event.key !== 'Enter' || event.isComposing || event.keyCode === COMPOSING_CODE) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return hasKeyboard && !event.shiftKey && !event.altKey;
}
