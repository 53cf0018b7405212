/** Which calls only looked at something, and the runs of them that are one line. */
import type { Part, ToolCard } from '../../data/reducer/view.js';
import { textField } from './tool-output.js';

type ReadKind = 'file' | 'search' | 'folder';

/** By name: a tool of somebody else's is not known to change nothing, whatever it says about itself. */
const READS: ReadonlyMap<string, ReadKind> = new Map([
  ['Read', 'file'],
  ['NotebookRead', 'file'],
  ['Grep', 'search'],
  ['Glob', 'search'],
  ['LS', 'folder'],
]);

/** Fewer stand as cards of their own. */
const SHORTEST_RUN = 3;

/** What failed, waits, or was asked about has to be seen, and is never folded away. */
function isFoldable(part: Part): boolean {
  if (part.kind !== 'tool') return false;
  const { name, state, approval } = part.card;
  return READS.has(name) && state === 'success' && approval === undefined;
}

/** The items in their order. A group of several is a run of reads, every other item is alone. */
export function groupReads<Item>(items: readonly Item[], partOf: (item: Item) => Part): Item[][] {
  const groups: Item[][] = [];
  let run: Item[] = [];
  const endRun = (): void => {
    if (run.length >= SHORTEST_RUN) groups.push(run);
    else for (const item of run) groups.push([item]);
    run = [];
  };
  for (const item of items) {
    if (isFoldable(partOf(item))) run.push(item);
    else {
      endRun();
      groups.push([item]);
    }
  }
  endRun();
  return groups;
}

export interface ReadCounts {
  /** Different ones. */
  files: number;
  searches: number;
  folders: number;
}

export function countReads(cards: readonly ToolCard[]): ReadCounts {
  const files = new Set<string>();
  const folders = new Set<string>();
  let searches = 0;
  for (const { id, name, input } of cards) {
    const kind = READS.get(name);
    if (kind === 'search') searches += 1;
    else if (kind === 'folder') folders.add(textField(input, 'path') ?? id);
    else files.add(textField(input, 'file_path') ?? textField(input, 'notebook_path') ?? id);
  }
  return { files: files.size, searches, folders: folders.size };
}
