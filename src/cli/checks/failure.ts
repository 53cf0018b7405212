/** Why a command failed, for the person who ran it. */
import { ConfigError } from '../../config/config-error.js';
import { GatewayError } from '../../core/errors.js';
import { EXIT } from '../shared/command.js';
import { explainMissingPart } from './parts.js';

export function explainFailure(error: unknown): { message: string; code: number } {
  if (error instanceof ConfigError) return { message: error.message, code: EXIT.usage };
  return { message: explainMissingPart(error) ?? textOf(error), code: EXIT.failed };
}

function textOf(error: unknown): string {
  if (error instanceof GatewayError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
