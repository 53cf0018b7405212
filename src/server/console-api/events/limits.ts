/** What bounds the event stream, in one place. Tests inject smaller ones. */
import { type ActivityLimits, EVENT_ACTIVITY_LIMITS } from '../../../activity/encode.js';

export interface EventLimits extends ActivityLimits {
  /** What can be replayed to a reader that comes back. */
  ringEvents: number;
  ringBytes: number;
  /** Without a reader, events are still kept for this long, for one that comes back. */
  keepMs: number;
  /** Bytes that a reader may be behind, beyond what it was sent first. */
  readerBytes: number;
  /** A reader that takes nothing for this long, although something waits for it, is cut off. */
  stallMs: number;
  /** Bytes that may wait for all readers together. */
  waitingBytes: number;
  readersOfKey: number;
  readers: number;
  pingMs: number;
  /** What a browser waits before it connects again. */
  retryMs: number;
  /** Characters of what was said to begin a turn. */
  messageChars: number;
  /** Characters that are kept of a running turn. */
  turnChars: number;
  /** A snapshot. Questions are whole in any case: turns give way to them, down to a quarter of it. */
  snapshotBytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const EVENT_LIMITS: EventLimits = Object.freeze({
  ...EVENT_ACTIVITY_LIMITS,
  ringEvents: 20_000,
  ringBytes: 8 * MIB,
  keepMs: 60_000,
  readerBytes: 4 * MIB,
  stallMs: 20_000,
  waitingBytes: 128 * MIB,
  readersOfKey: 32,
  readers: 256,
  pingMs: 15_000,
  retryMs: 1_000,
  messageChars: 256 * KIB,
  turnChars: 2 * MIB,
  snapshotBytes: 4 * MIB,
});
