import type { AddedServer, McpStore, NewToolPin, ToolPin } from '../mcp.js';
import {
  KEEP_PIN_SQL,
  PIN_SQL,
  PUT_PIN_SQL,
  PUT_SERVER_SQL,
  REMOVE_SERVER_SQL,
  readPin,
  readServer,
  SERVERS_SQL,
} from '../sql/mcp.js';
import { toJson, whole } from '../sql/rows.js';
import type { Context } from './context.js';

const NOTE_SQL = `INSERT INTO changes (kind, what, id) VALUES ('mcp', 'update', ?)`;

export class PostgresMcp implements McpStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async pin(subject: string, tool: string): Promise<ToolPin | undefined> {
    const row = await this.#context.database.get(PIN_SQL, [subject, tool]);
    return row && readPin(row);
  }

  async keepPin(pin: NewToolPin): Promise<ToolPin> {
    const { database } = this.#context;
    await database.run(KEEP_PIN_SQL, this.#values(pin));
    // Pins are replaced and never deleted while their rule is there.
    return readPin((await database.get(PIN_SQL, [pin.subject, pin.tool])) ?? {});
  }

  async putPin(pin: NewToolPin): Promise<void> {
    await this.#context.database.run(PUT_PIN_SQL, this.#values(pin));
  }

  async servers(): Promise<AddedServer[]> {
    return (await this.#context.database.all(SERVERS_SQL)).map(readServer);
  }

  async putServer({ name, config }: Omit<AddedServer, 'addedAt'>): Promise<void> {
    await this.#change(name, PUT_SERVER_SQL, [name, toJson(config), whole(this.#context.now())]);
  }

  async removeServer(name: string): Promise<boolean> {
    return (await this.#change(name, REMOVE_SERVER_SQL, [name])) > 0;
  }

  /** A change and what other nodes hear of it are one. */
  async #change(name: string, sql: string, values: (string | number)[]): Promise<number> {
    const { database, notifier } = this.#context;
    const changed = await database.transaction(async (queries) => {
      const rows = await queries.run(sql, values);
      if (rows > 0) await queries.run(NOTE_SQL, [name]);
      return rows;
    });
    if (changed > 0) notifier.wake();
    return changed;
  }

  #values({ subject, tool, digest, summary }: NewToolPin): (string | number)[] {
    return [subject, tool, digest, toJson(summary), whole(this.#context.now())];
  }
}
