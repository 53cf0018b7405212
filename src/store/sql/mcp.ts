import { type AddedServer, RULE_SUBJECT, type ToolPin } from '../mcp.js';
import { json, number, type Row, text } from './rows.js';

const PIN_COLUMNS = 'subject, tool, digest, summary, pinned_at';

export const PIN_SQL = 'SELECT * FROM tool_pins WHERE subject = ? AND tool = ?';
export const KEEP_PIN_SQL = `INSERT INTO tool_pins (${PIN_COLUMNS}) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (subject, tool) DO NOTHING`;
export const PUT_PIN_SQL = `INSERT INTO tool_pins (${PIN_COLUMNS}) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (subject, tool) DO UPDATE SET
    digest = excluded.digest, summary = excluded.summary, pinned_at = excluded.pinned_at`;
/** Of rules that are gone. */
export const PRUNE_PINS_SQL = `DELETE FROM tool_pins WHERE subject LIKE '${RULE_SUBJECT}%' AND NOT EXISTS
  (SELECT 1 FROM rules WHERE rules.id = substr(tool_pins.subject, ${RULE_SUBJECT.length + 1}))`;

export const SERVERS_SQL = 'SELECT * FROM mcp_servers ORDER BY name';
export const PUT_SERVER_SQL = `INSERT INTO mcp_servers (name, config, added_at) VALUES (?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET config = excluded.config, added_at = excluded.added_at`;
export const REMOVE_SERVER_SQL = 'DELETE FROM mcp_servers WHERE name = ?';

export function readPin(row: Row): ToolPin {
  return {
    subject: text(row, 'subject'),
    tool: text(row, 'tool'),
    digest: text(row, 'digest'),
    summary: json<unknown>(row, 'summary'),
    pinnedAt: number(row, 'pinned_at'),
  };
}

export function readServer(row: Row): AddedServer {
  return { name: text(row, 'name'), config: json<unknown>(row, 'config'), addedAt: number(row, 'added_at') };
}
