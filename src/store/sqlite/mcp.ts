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
import { type SqlValue, toJson, whole } from '../sql/rows.js';
import type { Context } from './context.js';

export class SqliteMcp implements McpStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  pin(subject: string, tool: string): Promise<ToolPin | undefined> {
    const { database } = this.#context;
    return database.read(() => {
      const row = database.get(PIN_SQL, [subject, tool]);
      return row && readPin(row);
    });
  }

  keepPin(pin: NewToolPin): Promise<ToolPin> {
    const { database } = this.#context;
    return database.write(() => {
      database.run(KEEP_PIN_SQL, this.#values(pin));
      return readPin(database.get(PIN_SQL, [pin.subject, pin.tool]) ?? {});
    });
  }

  async putPin(pin: NewToolPin): Promise<void> {
    const { database } = this.#context;
    await database.write(() => database.run(PUT_PIN_SQL, this.#values(pin)));
  }

  servers(): Promise<AddedServer[]> {
    const { database } = this.#context;
    return database.read(() => database.all(SERVERS_SQL).map(readServer));
  }

  async putServer({ name, config }: Omit<AddedServer, 'addedAt'>): Promise<void> {
    const { database, now } = this.#context;
    await database.write(() => database.run(PUT_SERVER_SQL, [name, toJson(config), whole(now())]));
  }

  removeServer(name: string): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => database.run(REMOVE_SERVER_SQL, [name]) > 0);
  }

  #values({ subject, tool, digest, summary }: NewToolPin): SqlValue[] {
    return [subject, tool, digest, toJson(summary), whole(this.#context.now())];
  }
}
