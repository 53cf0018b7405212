/** Files that go along with a message, as content blocks of the Messages API. */
import type { BlockWire } from '../../../src/activity/wire.js';
import { pageFetch } from '../data/api.js';

export interface Attachment {
  id: string;
  name: string;
  kind: FileKind;
  bytes: number;
  /** For images: what is shown small. */
  preview: string | undefined;
  block: ContentBlock;
}

type FileKind = 'image' | 'pdf' | 'text';

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: Base64Source | UrlSource | FileSource }
  | {
      type: 'document';
      title?: string;
      source:
        | Base64Source
        | UrlSource
        | FileSource
        | { type: 'text'; media_type: 'text/plain'; data: string };
    };
interface Base64Source {
  type: 'base64';
  media_type: string;
  data: string;
}
interface UrlSource {
  type: 'url';
  url: string;
}
interface FileSource {
  type: 'file';
  file_id: string;
}

export type FileProblem =
  | { type: 'type' | 'empty' | 'binary' | 'unreadable'; name: string }
  | { type: 'size'; name: string; limit: number }
  | { type: 'total'; limit: number }
  | { type: 'count'; limit: number };

/** Bytes. All together have to fit the gateway's `body_limit_mb`, a third larger as base64. */
export const FILE_LIMITS = {
  image: 5_000_000,
  pdf: 16_000_000,
  text: 1_000_000,
  total: 20_000_000,
  count: 20,
} as const;

const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Files whose names say that they are text although browsers give them no type, or a wrong one. */
const TEXT_NAMES =
  /\.(?:txt|md|markdown|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|env|log|diff|patch|xml|html?|css|scss|less|svg|[cm]?[jt]sx?|vue|svelte|py|rb|rs|go|java|kt|swift|c|h|cc|cpp|hpp|cs|php|pl|lua|r|jl|sh|bash|zsh|fish|ps1|bat|sql|graphql|proto|tf|gradle|tex|rst|adoc|ipynb|lock|gitignore|dockerfile|makefile)$/i;
const BARE_TEXT_NAMES = /^(?:dockerfile|makefile|license|readme|changelog|\.\w+rc|\.env.*|\.gitignore)$/i;
const TEXT_TYPES = /^text\/|^application\/(?:json|xml|x-yaml|yaml|toml|javascript|x-sh|sql)/;

export function kindOf({ name, type }: { name: string; type: string }): FileKind | undefined {
  if (IMAGES.has(type)) return 'image';
  if (type === 'application/pdf') return 'pdf';
  if (TEXT_NAMES.test(name) || BARE_TEXT_NAMES.test(name)) return 'text';
  return TEXT_TYPES.test(type) ? 'text' : undefined;
}

/** What can be said about files before any of them is read. */
export function checkFiles<F extends { name: string; type: string; size: number }>(
  files: readonly F[],
  already: readonly Pick<Attachment, 'bytes'>[],
): { fine: { file: F; kind: FileKind }[]; problems: FileProblem[] } {
  const fine: { file: F; kind: FileKind }[] = [];
  const problems: FileProblem[] = [];
  let total = already.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const file of files) {
    const kind = kindOf(file);
    const problem = problemOf(file, kind, already.length + fine.length, total);
    if (problem !== undefined) problems.push(problem);
    else if (kind !== undefined) {
      fine.push({ file, kind });
      total += file.size;
    }
  }
  return { fine, problems: problems.filter((each, index) => isFirst(problems, each, index)) };
}

function problemOf(
  { name, size }: { name: string; size: number },
  kind: FileKind | undefined,
  count: number,
  total: number,
): FileProblem | undefined {
  if (kind === undefined) return { type: 'type', name };
  if (size === 0) return { type: 'empty', name };
  if (size > FILE_LIMITS[kind]) return { type: 'size', name, limit: FILE_LIMITS[kind] };
  if (count >= FILE_LIMITS.count) return { type: 'count', limit: FILE_LIMITS.count };
  if (total + size > FILE_LIMITS.total) return { type: 'total', limit: FILE_LIMITS.total };
  return undefined;
}

/** "Too many" is said once, however many there were. */
function isFirst(problems: readonly FileProblem[], each: FileProblem, index: number): boolean {
  return 'name' in each || problems.findIndex(({ type }) => type === each.type) === index;
}

let last = 0;

/** Rejects with a FileProblem. */
export async function readFile(file: File, kind: FileKind): Promise<Attachment> {
  last += 1;
  const { name, size: bytes, type } = file;
  const common = { id: `file-${last}`, name, kind, bytes };
  if (kind === 'text') {
    const data = await decodedText(file);
    return {
      ...common,
      preview: undefined,
      block: { type: 'document', title: name, source: { type: 'text', media_type: 'text/plain', data } },
    };
  }
  const data = await base64Of(file).catch(() => {
    throw { type: 'unreadable', name } satisfies FileProblem;
  });
  const source: Base64Source = { type: 'base64', media_type: type, data };
  return kind === 'image'
    ? { ...common, preview: `data:${type};base64,${data}`, block: { type: 'image', source } }
    : { ...common, preview: undefined, block: { type: 'document', title: name, source } };
}

async function decodedText(file: File): Promise<string> {
  const { name } = file;
  const bytes = await file.arrayBuffer().catch(() => {
    throw { type: 'unreadable', name } satisfies FileProblem;
  });
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
  }
  throw { type: 'binary', name } satisfies FileProblem;
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const STEP = 0x8000;
  let binary = '';
  for (let at = 0; at < bytes.length; at += STEP) {
    binary += String.fromCharCode(...bytes.subarray(at, at + STEP));
  }
  return btoa(binary);
}

/** What is said, or sent: text alone stays text. */
export function contentOf(text: string, blocks: readonly ContentBlock[]): string | ContentBlock[] {
  if (blocks.length === 0) return text;
  return text.trim() === '' ? [...blocks] : [...blocks, { type: 'text', text }];
}

export function textOf(content: readonly BlockWire[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}

/** A block of a message that was sent before, to be sent again. Rejects where its bytes are gone. */
export async function sendAgain(block: BlockWire): Promise<ContentBlock> {
  if (block.type !== 'image' && block.type !== 'document')
    throw new Error(`Cannot send ${block.type} again.`);
  const { source } = block;
  const title = block.type === 'document' && block.title !== null ? { title: block.title } : {};
  if (source.type === 'url' || source.type === 'file') return { ...title, type: block.type, source };
  if (source.href === undefined) throw new Error('The gateway no longer has this attachment.');
  const answer = await pageFetch(source.href, {});
  if (!answer.ok) throw new Error('The gateway no longer has this attachment.');
  const blob = await answer.blob();
  if (source.type === 'text') {
    const data = await blob.text();
    return { ...title, type: 'document', source: { type: 'text', media_type: 'text/plain', data } };
  }
  const data = await base64Of(blob);
  return { ...title, type: block.type, source: { type: 'base64', media_type: source.media_type, data } };
}
