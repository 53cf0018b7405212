/**
 * The file that `export` writes and `import` reads: JSON Lines. The first line names the format, the last says how many
 * records there are: a file that was cut off is recognised.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import * as z from 'zod';
import { GatewayError } from '../core/errors.js';
import type { Store } from '../store/store.js';
import { TRANSFER_KINDS, type TransferKind, type TransferRecord } from '../store/transfer.js';

const FORMAT = 'toolgate-export';
const VERSION = 1;
/** In one transaction; a session alone may have more. */
const BATCH_RECORDS = 200;
const BATCH_CHARACTERS = 4_000_000;
const TELL_EVERY = 10_000;

const row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
const recordSchema = z.object({
  kind: z.enum(TRANSFER_KINDS),
  row,
  parts: z.record(z.string(), z.array(row)).exactOptional(),
  nth: z.int().positive().exactOptional(),
});
const headSchema = z.object({ format: z.literal(FORMAT), version: z.int().positive() });
const endSchema = z.object({ end: z.object({ records: z.int().nonnegative() }) });

type Tell = (line: string) => void;

/** Resolves with how many records were written. */
export async function writeExport(store: Store, file: string, tell: Tell): Promise<number> {
  const stream = createWriteStream(file, { flags: 'r+' });
  let records = 0;
  const write = async (value: object): Promise<void> => {
    if (!stream.write(`${JSON.stringify(value)}\n`))
      await new Promise<void>((resolve) => stream.once('drain', resolve));
  };
  const failed = finished(stream);
  failed.catch(() => {});
  await write({ format: FORMAT, version: VERSION, created_at: new Date().toISOString() });
  for (const kind of TRANSFER_KINDS) {
    const progress = new Progress(kind, await store.transfer.count(kind), tell);
    for await (const record of recordsOf(store, kind)) {
      await Promise.race([write(record), failed]);
      records += 1;
      progress.add();
    }
    progress.end();
  }
  await write({ end: { records } });
  stream.end();
  await failed;
  return records;
}

async function* recordsOf(store: Store, kind: TransferKind): AsyncIterable<TransferRecord> {
  let after: string | undefined;
  do {
    const page = await store.transfer.read(kind, after);
    yield* page.records;
    after = page.next;
  } while (after !== undefined);
}

/** Resolves with how many records there were, and how many of them were new. Rejects with what is wrong, and in which line. */
export async function readExport(
  store: Store,
  file: string,
  tell: Tell,
): Promise<{ records: number; added: number }> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  let batch: TransferRecord[] = [];
  let characters = 0;
  let records = 0;
  let added = 0;
  let isWhole = false;
  const flush = async (): Promise<void> => {
    added += await store.transfer.write(batch);
    if (Math.floor((records - batch.length) / TELL_EVERY) < Math.floor(records / TELL_EVERY))
      tell(`${records} records …`);
    batch = [];
    characters = 0;
  };
  try {
    for await (const text of lines) {
      line += 1;
      if (line === 1) checkHead(parse(text));
      else if (isWhole) throw new Error('there is something behind the end');
      else {
        const value = parse(text);
        const end = endSchema.safeParse(value);
        isWhole = end.success;
        if (end.success) {
          if (end.data.end.records !== records)
            throw new Error(`expected ${end.data.end.records} records, got ${records}`);
          continue;
        }
        batch.push(readRecord(value));
        records += 1;
        characters += text.length;
        if (batch.length >= BATCH_RECORDS || characters >= BATCH_CHARACTERS) await flush();
      }
    }
    await flush();
  } catch (error) {
    if (isFileProblem(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_request', `${file}:${line}: ${message}`, { cause: error });
  } finally {
    lines.close();
  }
  if (!isWhole) {
    throw new GatewayError(
      'invalid_request',
      `${file} ends early, behind ${records} records: ${added} of them are in the store now. Export again, and import that file.`,
    );
  }
  return { records, added };
}

const isFileProblem = (error: unknown): boolean =>
  (error instanceof GatewayError && error.code === 'unavailable') ||
  (error instanceof Error && 'syscall' in error);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('this is no JSON');
  }
}

function checkHead(value: unknown): void {
  const head = headSchema.safeParse(value);
  if (!head.success) throw new Error('this is no export of Toolgate');
  if (head.data.version > VERSION) {
    throw new Error(
      `it is written in format ${head.data.version}, and this version reads up to ${VERSION}. Update Toolgate, and import again`,
    );
  }
}

function readRecord(value: unknown): TransferRecord {
  const record = recordSchema.safeParse(value);
  if (record.success) return record.data;
  const [issue] = record.error.issues;
  throw new Error(
    `this is no record (${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'invalid'})`,
  );
}

class Progress {
  readonly #kind: TransferKind;
  readonly #total: number;
  readonly #tell: Tell;
  #done = 0;

  constructor(kind: TransferKind, total: number, tell: Tell) {
    this.#kind = kind;
    this.#total = total;
    this.#tell = tell;
  }

  add(): void {
    this.#done += 1;
    if (this.#done % TELL_EVERY === 0) this.#tell(`${this.#kind}: ${this.#done} of ${this.#total} …`);
  }

  end(): void {
    this.#tell(`${this.#kind}: ${this.#done}`);
  }
}
