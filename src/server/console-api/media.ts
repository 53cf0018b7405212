/**
 * What was attached to a conversation, or shown in it: images as such, everything else as a file to
 * save. It comes from models, tools and other people: nothing of it may run in the console's origin.
 */
import { createHash } from 'node:crypto';
import type { HrefOf } from '../../activity/encode.js';
import type { Block, MediaSource, Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { baseHeaders } from '../http/respond.js';
import type { ConsoleApiHandler } from './context.js';
import { findSession } from './request.js';

type Held = Extract<MediaSource, { data: string }>;

/** Shown by a browser without being a document. Never SVG, which is one. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** What is saved gets an ending by its kind; anything else has none. */
const ENDINGS: Readonly<Record<string, string>> = {
  'application/pdf': '.pdf',
  'text/plain': '.txt',
  'text/markdown': '.md',
  'text/csv': '.csv',
  'application/json': '.json',
};
/** An id stands for the same bytes for ever. */
const CACHE = 'private, max-age=86400, immutable';
const ID_LENGTH = 32;

/** Named by what it is: the place of a message may change, its content does not. */
function mediaId({ mediaType, data }: Held): string {
  return createHash('sha256')
    .update(mediaType)
    .update('\n')
    .update(data)
    .digest('base64url')
    .slice(0, ID_LENGTH);
}

export function hrefIn(session: string): HrefOf {
  return (source) =>
    source.type === 'base64' || source.type === 'text'
      ? `/api/sessions/${encodeURIComponent(session)}/media/${mediaId(source)}`
      : undefined;
}

export const getMedia: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  const wanted = parameters['media'] ?? '';
  const content = await context.sessions.read(id);
  const source = content && findMedia(content.readable, wanted);
  if (source === undefined) {
    throw new GatewayError(
      'not_found',
      'There is no such attachment in this session. It may have been left out of the conversation since.',
      {
        param: 'media',
      },
    );
  }
  const bytes = Buffer.from(source.data, source.type === 'base64' ? 'base64' : 'utf8');
  const type = source.mediaType.toLowerCase();
  const isImage = source.type === 'base64' && IMAGES.has(type);
  exchange.response.writeHead(200, {
    ...baseHeaders(exchange),
    'content-type': isImage ? type : 'application/octet-stream',
    'content-length': bytes.length,
    'content-disposition': isImage ? 'inline' : `attachment; filename="attachment${ENDINGS[type] ?? ''}"`,
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': CACHE,
  });
  exchange.response.end(bytes);
};

function findMedia(messages: readonly Message[], id: string): Held | undefined {
  for (const { content } of messages) {
    for (const source of sourcesIn(content)) if (mediaId(source) === id) return source;
  }
  return undefined;
}

function* sourcesIn(blocks: readonly Block[]): Generator<Held> {
  for (const block of blocks) {
    if (block.type === 'tool_result') yield* sourcesIn(block.content);
    else if (block.type === 'image' || block.type === 'document') {
      const { source } = block;
      if (source.type === 'base64' || source.type === 'text') yield source;
    }
  }
}
