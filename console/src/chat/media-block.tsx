/** What is in a message beside its text. */
import type { BlockWire, MediaSourceWire } from '../../../src/activity/wire.js';
import { OwnFile, OwnPicture } from '../cards/view/own-media.js';
import { safeLink } from '../markdown/links.js';
import { useText } from '../text/language.js';
import { formatBytes } from '../ui/format.js';
import { FileIcon, ImageIcon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { strings } from './strings.js';

/** Blocks of a message never change their places. */
export function MediaBlocks({ blocks }: { blocks: readonly BlockWire[] }) {
  return blocks.map((block, index) => {
    const key = `${block.type}-${index}`;
    return <MediaBlock key={key} block={block} />;
  });
}

function MediaBlock({ block }: { block: BlockWire }) {
  const text = useText(strings);
  switch (block.type) {
    case 'image':
      return <Picture source={block.source} />;
    case 'document':
      return <Chip source={block.source} name={block.title ?? text.document} />;
    case 'tool_result':
      return <Chip name={text.toolResult} />;
    case 'opaque':
      return <Chip name={text.opaque(block.kind)} />;
    default:
      return null;
  }
}

function Picture({ source }: { source: MediaSourceWire }) {
  const text = useText(strings);
  const href = ownAddress(source);
  if (href === undefined) return <Chip source={source} name={text.image} picture />;
  return (
    <OwnPicture
      href={href}
      alt={text.image}
      label={text.openImage}
      className="max-h-60 max-w-full rounded-md border border-line object-contain"
      missing={<Chip name={text.image} picture />}
    />
  );
}

function Chip({
  name,
  source,
  picture = false,
}: {
  name: string;
  source?: MediaSourceWire;
  picture?: boolean;
}) {
  const text = useText(strings);
  const own = source === undefined ? undefined : ownAddress(source);
  const link = source === undefined ? undefined : foreignAddress(source);
  const size = source !== undefined && 'size' in source ? bytesOf(source) : undefined;
  const inside = (
    <>
      {picture ? <ImageIcon className="shrink-0" /> : <FileIcon className="shrink-0" />}
      <span className="min-w-0 truncate">
        <VisibleText text={name} />
      </span>
      {size !== undefined && <span className="shrink-0 text-muted">{formatBytes(size)}</span>}
    </>
  );
  const look =
    'inline-flex max-w-full items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-1 text-xs';
  if (own !== undefined) {
    return (
      <OwnFile href={own} missing={text.attachmentGone} className={`${look} hover:bg-raised`}>
        {inside}
      </OwnFile>
    );
  }
  return link === undefined ? (
    <span className={look}>{inside}</span>
  ) : (
    <a
      href={link}
      target="_blank"
      rel="noopener noreferrer"
      title={link}
      className={`${look} hover:bg-raised`}
    >
      {inside}
    </a>
  );
}

/** Pictures of other hosts are never loaded. */
function ownAddress(source: MediaSourceWire): string | undefined {
  return 'href' in source && source.href?.startsWith('/api/') === true ? source.href : undefined;
}

function foreignAddress(source: MediaSourceWire): string | undefined {
  return source.type === 'url' ? safeLink(source.url)?.href : undefined;
}

function bytesOf(source: Extract<MediaSourceWire, { size: number }>): number {
  return source.type === 'base64' ? Math.floor((source.size * 3) / 4) : source.size;
}
