/** Pictures and documents of a result. What is elsewhere is never fetched without being asked for. */
import type { BlockWire, MediaSourceWire } from '../../../../src/activity/wire.js';
import { useText } from '../../text/language.js';
import { ExternalIcon, FileIcon } from '../../ui/icons.js';
import { makeVisible } from '../../ui/visible.js';
import { OwnFile, OwnPicture, PICTURES } from './own-media.js';
import { strings } from './strings.js';

type MediaBlock = Extract<BlockWire, { type: 'image' | 'document' }>;

function isMedia(block: BlockWire): block is MediaBlock {
  return block.type === 'image' || block.type === 'document';
}

export function MediaList({ blocks }: { blocks: readonly BlockWire[] }) {
  const media = blocks.filter(isMedia);
  if (media.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {media.map((block, index) => {
        const key = `${index}`;
        return block.type === 'image' ? (
          <Picture key={key} source={block.source} />
        ) : (
          <Paper key={key} title={block.title} source={block.source} />
        );
      })}
    </div>
  );
}

function Picture({ source }: { source: MediaSourceWire }) {
  const text = useText(strings);
  if (source.type === 'url') return <Away url={source.url} label={text.imageElsewhere} />;
  const href = source.type === 'base64' ? ownAddress(source.href) : undefined;
  if (source.type !== 'base64' || href === undefined || !PICTURES.has(source.media_type)) {
    return <Missing what={text.image} />;
  }
  return (
    <OwnPicture
      href={href}
      alt={text.image}
      className="max-h-80 max-w-full rounded-md border border-line bg-code object-contain"
      missing={<Missing what={text.image} />}
    />
  );
}

function Paper({ title, source }: { title: string | null; source: MediaSourceWire }) {
  const text = useText(strings);
  const pdf = source.type === 'base64' && source.media_type === 'application/pdf';
  const label = title ?? (pdf ? text.openPdf : text.openDocument);
  if (source.type === 'url') return <Away url={source.url} label={label} />;
  const href = source.type === 'file' ? undefined : ownAddress(source.href);
  if (href === undefined) return <Missing what={makeVisible(label)} />;
  return (
    <OwnFile
      href={href}
      missing={text.bytesUnavailable(makeVisible(label))}
      className="inline-flex items-center gap-1.5 rounded-md border border-line px-2.5 py-1.5 text-sm text-accent underline underline-offset-2"
    >
      <FileIcon size={16} /> {makeVisible(label)}
    </OwnFile>
  );
}

/** A link to another host, shown whole. */
export function Away({ url, label }: { url: string; label?: string }) {
  const safe = /^https?:\/\//i.test(url) && URL.canParse(url);
  const shown = makeVisible(url);
  if (!safe) return <span className="wrap-anywhere">{shown}</span>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      className="inline-flex max-w-full items-start gap-1 text-accent underline underline-offset-2"
    >
      <span className="min-w-0 wrap-anywhere">{label === undefined ? shown : `${label} (${shown})`}</span>
      <ExternalIcon size={14} className="mt-0.5 shrink-0" />
    </a>
  );
}

function Missing({ what }: { what: string }) {
  const text = useText(strings);
  return <p className="text-xs text-muted">{text.bytesUnavailable(what)}</p>;
}

function ownAddress(href: string | undefined): string | undefined {
  if (href === undefined || !URL.canParse(href, location.origin)) return undefined;
  const url = new URL(href, location.origin);
  return url.origin === location.origin ? url.href : undefined;
}
