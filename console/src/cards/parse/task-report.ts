import type { SubAgentView, TextPart } from '../../data/reducer/view.js';

interface TaskReport {
  text: string;
  /** The words of the sub-agent that it is, where they are known. */
  part: TextPart | undefined;
}

/** What a sub-agent reports: an engine may hand it back inside words of its own, which are for the model. */
export function reportOf(result: string, agent: SubAgentView | undefined): TaskReport {
  const part = agent?.parts.findLast(
    (each): each is TextPart => each.kind === 'text' && each.text.trim() !== '',
  );
  const said = part?.text.trim();
  return said !== undefined && result.includes(said)
    ? { text: said, part }
    : { text: result, part: undefined };
}
