/**
 * What has to be looked at when commands have ended, written down while they run: a gateway that is
 * killed cannot look, so the next one does. A record is named after the gateway that wrote it.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { createCommandId, isOrphan } from '../workspace/process/orphans.js';
import { type SearchedFolders, watchNewRepositories } from './mounts.js';
import type { SetAside } from './sandbox.js';
import { settleWatched, type WatchedPath } from './watched-paths.js';

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
});

export interface PendingLook {
  watched: readonly WatchedPath[];
  standIns: readonly string[];
  searched: SearchedFolders;
}

export interface PendingLooks {
  /** Gives the function that takes the record away. Throws where it cannot be written: then nothing may run. */
  add(look: PendingLook): () => void;
  /** Does what gateways that are gone could not do any more. */
  recover(): Promise<SetAside[]>;
}

export function createPendingLooks(folder: string | undefined): PendingLooks {
  return {
    add(look) {
      if (folder === undefined) return () => {};
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, `${createCommandId()}.json`);
      writeFileSync(file, JSON.stringify(look), { mode: 0o600 });
      return () => rmSync(file, { force: true });
    },
    async recover() {
      if (folder === undefined) return [];
      const done: SetAside[] = [];
      for (const name of namesIn(folder)) {
        if (!isOrphan(name.replace(/\.json$/, ''))) continue;
        const record = readRecord(join(folder, name));
        if (record !== undefined) {
          for (const path of record.standIns) removeIfEmpty(path);
          const watched = [...record.watched, ...watchNewRepositories(record.searched)];
          done.push(...(await settleWatched(watched, new Set())));
        }
        rmSync(join(folder, name), { force: true });
      }
      return done;
    },
  };
}

/** At once: nobody may plan with it in between. One that somebody has filled meanwhile stays. */
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
