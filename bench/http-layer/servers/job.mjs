/** What every server under test answers: the same work, so that only the layer differs. */
import { anthropicAnswer, anthropicFrames } from '../../lib/workload.mjs';

export const answer = anthropicAnswer();
const frames = anthropicFrames();
const READ_BYTES = 65_536;
const TICK_MS = 2;
const HOLD_TICKS = 100;

/** Frames joined to what one read of a socket would bring. */
function reads() {
  const found = [];
  let read = '';
  for (const frame of frames) {
    if (read.length + frame.length > READ_BYTES) {
      found.push(read);
      read = '';
    }
    read += frame;
  }
  return [...found, read];
}

const SOURCES = { burst: { batches: reads(), every: 0 }, paced: { batches: frames, every: 1 } };

const waiting = new Set();
const ticker = setInterval(() => {
  for (const wake of [...waiting]) wake();
}, TICK_MS);
ticker.unref();

function ticks(count) {
  return new Promise((resolve) => {
    let left = count;
    const wake = () => {
      if (--left > 0) return;
      waiting.delete(wake);
      resolve();
    };
    waiting.add(wake);
  });
}

/** One batch for each read of an imagined upstream: at once, every 2 ms, or first one and then five a second. */
export async function* batches(mode) {
  if (mode === 'hold') {
    for (;;) {
      yield frames[3];
      await ticks(HOLD_TICKS);
    }
  }
  const { batches: all, every } = SOURCES[mode];
  for (const batch of all) {
    if (every > 0) await ticks(every);
    else await new Promise((resolve) => setImmediate(resolve));
    yield batch;
  }
}

export function checkRequest(body) {
  if (body.messages.length !== 13 || body.tools.length !== 14) throw new Error('the request was not read');
}

export const SSE_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
