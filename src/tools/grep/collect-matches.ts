/** Puts together what ripgrep prints about each file. */

export interface FileMatches {
  /** As it is shown. */
  path: string;
  /** Of content: ready to be shown; of the other modes empty. */
  lines: readonly string[];
  /** Matching lines, where they are counted. */
  count: number;
}

interface Collector {
  /** One record as printed. Returns how many lines or paths there are by now. */
  take(record: string): number;
  lines(): number;
  fileCount(): number;
  /** Matching lines of all files, where they are counted. */
  matches(): number;
  /** The first `most` in the order of their paths; by default all. */
  files(most?: number): FileMatches[];
  /** In the order in which they came. */
  inOrder(): FileMatches[];
}

interface CollectorOptions {
  mode: 'content' | 'files_with_matches' | 'count';
  numbers: boolean;
  /** The path to show; undefined where the rules hide the file. */
  resolve(printed: string): string | undefined;
}

/** Between parts of one file that do not follow each other. */
const GAP = '--';

export function createCollector({ mode, numbers, resolve }: CollectorOptions): Collector {
  const files = new Map<string, { path: string; lines: string[]; count: number }>();
  const hidden = new Set<string>();
  let total = 0;
  let gapIn: string | undefined;
  let last: string | undefined;
  let begun = '';

  const open = (printed: string): { path: string; lines: string[]; count: number } | undefined => {
    const known = files.get(printed);
    if (known !== undefined) return known;
    if (hidden.has(printed)) return undefined;
    const path = resolve(printed);
    if (path === undefined) {
      hidden.add(printed);
      return undefined;
    }
    const file = { path, lines: [], count: 0 };
    files.set(printed, file);
    return file;
  };

  const takeLine = (printed: string, rest: string): void => {
    const file = open(printed);
    if (file === undefined) return;
    // `12:` is a match, `12-` belongs to the lines around one.
    const [, number = '', mark = ':', text = ''] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
    if (gapIn === printed) {
      file.lines.push(GAP);
      total += 1;
    }
    gapIn = undefined;
    last = printed;
    file.lines.push(`${file.path}${mark}${numbers ? `${number}${mark}` : ''}${text.replace(/\r$/, '')}`);
    if (mark === ':') file.count += 1;
    total += 1;
  };

  return {
    take(record) {
      if (mode === 'files_with_matches') {
        if (open(record) !== undefined) total += 1;
        return total;
      }
      const end = record.indexOf('\0');
      if (end < 0) {
        // A path with a line end in it comes in two records.
        if (record === GAP) gapIn = last;
        else begun += `${record}\n`;
        return total;
      }
      const printed = begun + record.slice(0, end);
      begun = '';
      const rest = record.slice(end + 1);
      if (mode === 'content') takeLine(printed, rest);
      else {
        const file = open(printed);
        if (file !== undefined) {
          file.count = Number(rest);
          total += 1;
        }
      }
      return total;
    },
    lines: () => total,
    fileCount: () => files.size,
    matches: () => [...files.values()].reduce((sum, { count }) => sum + count, 0),
    inOrder: () => [...files.values()],
    files: (most) => firstByPath(files.values(), most ?? files.size),
  };
}

/** Most of a long list sorts after the last wanted entry: it is compared once and never sorted. */
export function firstByPath(files: Iterable<FileMatches>, most: number): FileMatches[] {
  const byPath = (a: FileMatches, b: FileMatches): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  let kept: FileMatches[] = [];
  let last: string | undefined;
  for (const file of files) {
    if (last !== undefined && file.path > last) continue;
    kept.push(file);
    if (kept.length > most * 2) {
      kept = kept.sort(byPath).slice(0, most);
      last = kept.at(-1)?.path;
    }
  }
  return kept.sort(byPath).slice(0, most);
}
