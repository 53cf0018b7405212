/**
 * What has to be looked at when commands have ended, written down while they run: a gateway that is
 * killed cannot look, so the next one does. A record is named after the gateway that wrote it, and
 * its time says until when that one was there: what is newer is not of its commands.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { createCommandId, isOrphan } from '../workspace/process/end-processes.js';
import type { ApprovedFile } from './approved-files.js';
import { type SearchedFolders, watchNewRepositories } from './mounts.js';
import type { SetAside } from './sandbox.js';
import { settleWatched, type WatchedPath } from './watched-paths.js';

/**
 * Commands end with their gateway, so that `marginMs` is only for one that was too busy to touch its
 * records before it was killed.
 */
const TIMES = { touchMs: 2_000, marginMs: 10_000 } as const;

const DRAFT = '.new';

const RECORD = z.object({
  watched: z.array(
    z.object({
      root: z.string(),
      path: z.string(),
      link: z.string().optional(),
      look: z.enum(['repository', 'hooks', 'config']).optional(),
    }),
  ),
  standIns: z.array(z.string()),
  searched: z.object({ roots: z.array(z.string()), repositories: z.array(z.string()) }),
  approved: z.array(z.object({ path: z.string(), size: z.number(), sha256: z.string() })).default([]),
});

interface PendingLook {
  watched: readonly WatchedPath[];
  standIns: readonly string[];
  searched: SearchedFolders;
}

interface PendingRecord {
  /** Notes what was written with approval since, and what has to be looked at because of it. */
  update(since: { watched: readonly WatchedPath[]; approved: readonly ApprovedFile[] }): void;
  remove(): void;
}

export interface PendingLooks {
  /** Throws where it cannot be written: then nothing may run. */
  add(look: PendingLook): PendingRecord;
  /** Does what gateways that are gone could not do any more. */
  recover(): Promise<SetAside[]>;
}

export function createPendingLooks(folder: string | undefined): PendingLooks {
  return {
    add(look) {
      if (folder === undefined) return { update: () => {}, remove: () => {} };
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${createCommandId()}.json`);
      writeFileSync(file, JSON.stringify(look), { mode: 0o600 });
      const timer = setInterval(() => touch(file), TIMES.touchMs);
      timer.unref();
      return {
        update(since) {
          // A record that is not whole counts as one of a command that had not begun.
          writeFileSync(file + DRAFT, JSON.stringify({ ...look, ...since }), { mode: 0o600 });
          renameSync(file + DRAFT, file);
        },
        remove() {
          clearInterval(timer);
          rmSync(file, { force: true });
        },
      };
    },
    async recover() {
      if (folder === undefined) return [];
      const done: SetAside[] = [];
      for (const name of namesIn(folder)) {
        if (!isOrphan(name.replace(/\.json$/, ''))) continue;
        const file = join(folder, name);
        const record = readRecord(file);
        if (record !== undefined) {
          for (const path of record.standIns) removeIfEmpty(path);
          const watched = [...record.watched, ...watchNewRepositories(record.searched)];
          const until = statSync(file).mtimeMs + TIMES.marginMs;
          done.push(...(await settleWatched(watched, new Set(), { approved: record.approved, until })));
        }
        for (const each of [file, file + DRAFT]) rmSync(each, { force: true });
      }
      return done;
    },
  };
}

function touch(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // Somebody took it away: then there is nothing to look at.
  }
}

/** Synchronous, so that no other plan uses the folder in between. A folder that was filled meanwhile stays. */
export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Never made, or in use.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Undefined where it was not written to its end: then its command had not begun. */
function readRecord(file: string): z.infer<typeof RECORD> | undefined {
  try {
    return RECORD.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
