import { describe, expect, it } from 'vitest';
import { imageSize } from './image-size.js';

const hex = (text: string): string => Buffer.from(text.replaceAll(' ', ''), 'hex').toString('base64');
const exif = `ff e1 00 12 ${'00 '.repeat(16)}`;

describe('imageSize', () => {
  it.each([
    {
      kind: 'PNG',
      data: hex('89504e47 0d0a1a0a 0000000d 49484452 00000280 000001e0'),
      width: 640,
      height: 480,
    },
    { kind: 'GIF', data: hex('47494638 3961 2c01 c800'), width: 300, height: 200 },
    {
      kind: 'JPEG behind metadata and padding',
      data: hex(`ffd8 ${exif} ff ff c2 0011 08 0320 0500 03`),
      width: 1280,
      height: 800,
    },
    {
      kind: 'lossy WebP',
      data: hex('52494646 00000000 57454250 56503820 00000000 000000 9d012a 9001 2c01'),
      width: 400,
      height: 300,
    },
    {
      kind: 'lossless WebP',
      data: hex('52494646 00000000 57454250 5650384c 00000000 2f 8f c1 4a 00'),
      width: 400,
      height: 300,
    },
    {
      kind: 'extended WebP',
      data: hex('52494646 00000000 57454250 56503858 0a000000 10000000 8f0100 2b0100'),
      width: 400,
      height: 300,
    },
    {
      kind: 'BMP stored top-down',
      data: hex(`424d ${'00'.repeat(16)} 90010000 d4feffff`),
      width: 400,
      height: 300,
    },
  ])('reads $kind', ({ data, width, height }) => {
    expect(imageSize(data)).toEqual({ width, height });
  });

  it.each([
    ['nothing', ''],
    ['another format', hex('25504446 2d312e37')],
    ['a PNG cut off before its size', hex('89504e47 0d0a1a0a')],
    ['a JPEG without a frame', hex(`ffd8 ${exif} 0000`)],
    ['a JPEG whose segments have no length', hex('ffd8 ffe0 0000')],
    ['text that is not base64', '不是图片'],
  ])('knows no size of %s', (_name, data) => {
    expect(imageSize(data)).toBeUndefined();
  });
});
