/**
 * Loaded into a target with `--import`: tells over IPC how long its event loop was held in one piece.
 * `start` begins to watch, `stop` answers with the longest piece in milliseconds. Nothing runs in between
 * other measurements, so those do not pay for it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 1;

if (isMainThread && process.send !== undefined) {
  let delay;
  process.on('message', (message) => {
    if (message === 'start') {
      delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      delay.enable();
      process.send('started');
    } else if (message === 'stop') {
      delay.disable();
      // What the histogram holds is the time between two ticks of its timer, the timer's own included.
      process.send(Math.max(0, delay.max / 1e6 - RESOLUTION_MS));
    }
  });
  process.channel.unref();
}
