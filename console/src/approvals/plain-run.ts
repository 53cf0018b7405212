/** Whether a command that is asked about is all that there is to the call, and whether a row shows it whole. */
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { gatewayTitle, mayHaveRun } from '../text/gateway-sentences.js';
import type { Language } from '../text/language.js';

/** As much of a command as a title can be about. */
const LOOKED_AT = 2_000;
const RUN = 'Run ';

/** The title says no more than the command does: it is run, and waited for. */
export function isPlainRun({ describe: { title, command }, input }: ApprovalWire): boolean {
  if (command === undefined || !title.startsWith(RUN)) return false;
  if (fieldsOf(input)['run_in_background'] === true) return false;
  const said = title.slice(RUN.length);
  const line = command
    .trimStart()
    .slice(0, LOOKED_AT)
    .trimEnd()
    .replace(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', '\\t');
  return said === line || (said.endsWith('…') && line.startsWith(said.slice(0, -1)));
}

/** `isSaidBelow`: what is asked for stands below it in full, and need not be said twice. */
export function titleOf(approval: ApprovalWire, language: Language): { title: string; isSaidBelow: boolean } {
  const { command, diff, url, title } = approval.describe;
  const said = gatewayTitle(title, language);
  // An engine's words may leave out what the gateway's say.
  if (command !== undefined && !isPlainRun(approval)) return { title: said, isSaidBelow: false };
  const isSaidBelow = command !== undefined || diff !== undefined || url !== undefined;
  return { title: approval.hints.title ?? said, isSaidBelow };
}

const USUAL = new Set(['command', 'description', 'timeout']);

/** A command comes with arguments that are seen nowhere but among all of them. */
export function hasMoreArguments({ describe: { command }, input }: ApprovalWire): boolean {
  return command !== undefined && Object.keys(fieldsOf(input)).some((name) => !USUAL.has(name));
}

/** Longest command, and longest description of it, that a row shows in full. */
const ROW_CHARS = 120;

/** Its row shows all that there is to see: a short command, its description, and nothing beside them. */
export function isWholeInItsRow(approval: ApprovalWire): boolean {
  const { describe, risks, why, cwd, project } = approval;
  const { command = '', diff, url, detail = '', paths = [] } = describe;
  if (!isPlainRun(approval) || diff !== undefined || url !== undefined) return false;
  if (risks.some((risk) => risk === 'irreversible' || risk === 'outside')) return false;
  if (cwd !== project || paths.some((path) => path !== cwd)) return false;
  if (hasHints(approval) || mayHaveRun(why)) return false;
  const { command: given, description = '', ...more } = fieldsOf(approval.input);
  if (given !== command || description !== detail || Object.keys(more).length > 0) return false;
  return [command, detail].every((text) => text.length <= ROW_CHARS && !text.includes('\n'));
}

/** Rows show none. */
function hasHints({ hints }: ApprovalWire): boolean {
  return Object.values(hints).some((hint) => hint !== null && hint !== false);
}

function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? { ...input } : {};
}
