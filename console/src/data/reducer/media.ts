/** Pictures and documents that were heard of: events name them, and only the transcript has their bytes. */
import type { BlockWire } from '../../../../src/server/console-api/wire/shared.js';
import type { Part } from './view.js';

/** A result of the main agent's that `written` does not have yet. */
export function lacksMedia(heard: readonly Part[], written: readonly Part[]): boolean {
  const wanted = heard.flatMap((part) =>
    part.kind === 'tool' && part.card.result?.some(isWithoutBytes) === true ? [part.card.id] : [],
  );
  if (wanted.length === 0) return false;
  const there = new Set(
    written.flatMap((part) => (part.kind === 'tool' && part.card.result !== undefined ? [part.card.id] : [])),
  );
  return wanted.some((id) => !there.has(id));
}

function isWithoutBytes(block: BlockWire): boolean {
  if (block.type !== 'image' && block.type !== 'document') return false;
  const { source } = block;
  return (source.type === 'base64' || source.type === 'text') && source.href === undefined;
}
