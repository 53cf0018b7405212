/**
 * Sign-ins to MCP servers, in one file that only the gateway's user may read. It is read anew when
 * it has changed: `doctor` may refresh a token while the gateway runs.
 */
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';

/** In the folder of the store. */
export const TOKEN_FILE_NAME = 'mcp-sign-ins.json';

const entrySchema = z.object({
  /** The server that it belongs to: another address under the same name has no use for it. */
  url: z.string(),
  client: z.record(z.string(), z.unknown()).optional(),
  tokens: z.record(z.string(), z.unknown()).optional(),
});
const fileSchema = z.object({ version: z.literal(1), servers: z.record(z.string(), entrySchema) });

type SignIn = z.output<typeof entrySchema>;
type Contents = z.output<typeof fileSchema>;

export interface TokenFile {
  read(name: string, url: string): Promise<SignIn | undefined>;
  /** `change` gets what is there, for this address, and says what shall be; undefined removes it. */
  update(name: string, url: string, change: (current: SignIn) => SignIn | undefined): Promise<void>;
}

export function createTokenFile(
  path: string | undefined,
  onUnreadable: (error: unknown) => void = () => {},
): TokenFile {
  let contents: Contents = { version: 1, servers: {} };
  let stamp = '';
  let queue: Promise<void> = Promise.resolve();

  async function load(): Promise<Contents> {
    if (path === undefined) return contents;
    const found = await stat(path).catch(() => undefined);
    const seen = found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (seen === stamp) return contents;
    stamp = seen;
    contents = { version: 1, servers: {} };
    if (found === undefined) return contents;
    try {
      contents = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      onUnreadable(error);
    }
    return contents;
  }

  async function save(next: Contents): Promise<void> {
    contents = next;
    if (path === undefined) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      await writeFile(temporary, JSON.stringify(next), { mode: 0o600, flush: true });
      // A file that was left over keeps its own mode.
      await chmod(temporary, 0o600);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    stamp = '';
  }

  const own = (entry: SignIn | undefined, url: string): SignIn | undefined =>
    entry?.url === url ? entry : undefined;

  return {
    async read(name, url) {
      return own((await load()).servers[name], url);
    },
    update(name, url, change) {
      const work = queue.then(async () => {
        const { servers } = await load();
        const { [name]: current, ...others } = servers;
        const next = change(own(current, url) ?? { url });
        await save({ version: 1, servers: next === undefined ? others : { ...others, [name]: next } });
      });
      queue = work.catch(() => {});
      return work;
    },
  };
}
