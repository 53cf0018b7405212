/** What a person opened or closed. A card that is scrolled out of sight and back is as they left it. */

const MOST_CHOICES = 2_000;
const choices = new Map<string, boolean>();

/** Names the card of a call. `agent`: the sub-agent that made it. */
export function choiceOf(session: string, agent: string | undefined, call: string): string {
  return `${session} ${agent ?? ''} ${call}`;
}

export function openChoice(key: string): boolean | undefined {
  return choices.get(key);
}

export function keepOpenChoice(key: string, open: boolean): void {
  choices.delete(key);
  choices.set(key, open);
  const [oldest] = choices.keys();
  if (choices.size > MOST_CHOICES && oldest !== undefined) choices.delete(oldest);
}
