/** The mark as PNG in the sizes that systems ask for, drawn here: see public/favicon.svg for its shape. */
import { crc32, deflateSync } from 'node:zlib';

const GROUND = [0x34, 0x55, 0xdb];
const INK = [0xff, 0xff, 0xff];
/** Of the drawing; all lengths below are in its units. */
const SIDE = 36;
const CORNER = 9;

/** Polylines with the half of their width. */
const STROKES = [
  { half: 1.5, points: arch() },
  {
    half: 1.2,
    points: [
      [14, 20],
      [22, 20],
    ],
  },
  {
    half: 1.2,
    points: [
      [19, 17],
      [22, 20],
      [19, 23],
    ],
  },
];

/**
 * `maskable` fills the square, since the system cuts its own shape out of it, and draws the mark
 * within the middle four fifths that no shape cuts away.
 */
export const ICONS = [
  { file: 'icon-192.png', size: 192, maskable: false },
  { file: 'icon-512.png', size: 512, maskable: false },
  { file: 'icon-maskable-512.png', size: 512, maskable: true },
  { file: 'apple-touch-icon.png', size: 180, maskable: true },
];

export function drawIcon({ size, maskable }) {
  const pixels = Buffer.alloc(size * size * 4);
  const scale = SIDE / size;
  const shrink = maskable ? 1.25 : 1;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const px = (x + 0.5) * scale;
      const py = (y + 0.5) * scale;
      const ground = maskable ? 1 : cover(cornered(px, py), scale);
      const mx = (px - SIDE / 2) * shrink + SIDE / 2;
      const my = (py - SIDE / 2) * shrink + SIDE / 2;
      const ink = Math.max(
        ...STROKES.map(({ half, points }) => cover(along(points, mx, my) - half, scale * shrink)),
      );
      const at = (y * size + x) * 4;
      for (let channel = 0; channel < 3; channel++) {
        pixels[at + channel] = Math.round(GROUND[channel] * (1 - ink) + INK[channel] * ink);
      }
      pixels[at + 3] = Math.round(255 * ground);
    }
  }
  return encodePng(pixels, size);
}

/** How much of a pixel is inside, from its distance to the edge. */
function cover(distance, pixel) {
  return Math.min(1, Math.max(0, 0.5 - distance / pixel));
}

function cornered(x, y) {
  const dx = Math.abs(x - SIDE / 2) - (SIDE / 2 - CORNER);
  const dy = Math.abs(y - SIDE / 2) - (SIDE / 2 - CORNER);
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - CORNER;
}

function along(points, x, y) {
  let nearest = Number.POSITIVE_INFINITY;
  for (let index = 1; index < points.length; index++) {
    const [ax, ay] = points[index - 1];
    const [bx, by] = points[index];
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const part = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
    nearest = Math.min(nearest, Math.hypot(x - ax - part * (bx - ax), y - ay - part * (by - ay)));
  }
  return nearest;
}

function arch() {
  const steps = 24;
  const round = Array.from({ length: steps + 1 }, (_, step) => {
    const angle = Math.PI - (Math.PI * step) / steps;
    return [18 + 9 * Math.cos(angle), 15 - 9 * Math.sin(angle)];
  });
  return [[9, 27], ...round, [27, 27]];
}

function encodePng(pixels, size) {
  const rows = Buffer.alloc(size * (size * 4 + 1));
  // Each row begins with the number of its filter: none.
  for (let y = 0; y < size; y++) pixels.copy(rows, y * (size * 4 + 1) + 1, y * size * 4, (y + 1) * size * 4);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits a channel, colour with transparency.
  header.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
