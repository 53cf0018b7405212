/** Images that models are shown. */
import { imageSize } from '../../core/image-size.js';
import type { ImageMediaType } from '../../workspace/binary-kind.js';
import { readWhole } from '../../workspace/file-page.js';
import type { OpenFile } from '../../workspace/regular-file.js';
import type { CallTarget } from '../files/call-target.js';
import { ToolError, type ToolResult } from '../runtime/tool.js';
import { READ_LIMITS } from './limits.js';

/** Throws ToolError. */
export async function readImage(
  file: OpenFile,
  target: CallTarget,
  mediaType: ImageMediaType,
): Promise<ToolResult> {
  const { size } = file.stats;
  const name = mediaType.slice('image/'.length).toUpperCase();
  if (size > READ_LIMITS.imageBytes) {
    throw new ToolError(
      `${target.path} is a ${name} image of ${size} bytes; images of up to ${READ_LIMITS.imageBytes} can be shown. ` +
        'Make a smaller copy with Bash (for example: convert FILE -resize 1500x1500 /tmp/smaller.png) and Read that.',
    );
  }
  const data = (await readWhole(file)).toString('base64');
  const dimensions = imageSize(data);
  const measure = dimensions === undefined ? '' : `, ${dimensions.width} × ${dimensions.height} pixels`;
  return {
    type: 'result',
    resultForAssistant: [
      { type: 'text', text: `[${name} image${measure}, ${size} bytes]` },
      { type: 'image', source: { type: 'base64', mediaType, data } },
    ],
    data: { kind: 'image', path: target.path, mediaType, size, ...dimensions },
  };
}
