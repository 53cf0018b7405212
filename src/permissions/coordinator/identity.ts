/**
 * Which question it is, and what it is about. The id comes from the call, so that the same call
 * asked again after a restart finds its row; the digest binds a decision to what was shown.
 */
import { digestOf } from '../../store/json.js';
import type { GatedToolCall } from '../gate.js';

/** Ids that an upstream uses twice, and questions asked anew, get a number after this sign. */
const VERSION_SIGN = '#';
/** Questions about what came up while a call ran. */
const FURTHER_SIGN = '+';
const SUFFIXES = /(?:\+[\w-]{12})?(?:#\d+)?$/;

type ToolCallIdentity = Pick<GatedToolCall, 'session' | 'agent' | 'toolUseId'>;

/** What stands in the row for the nth question about a call; the first is the call's own id. */
export function versionedId(toolUseId: string, version: number): string {
  return version === 0 ? toolUseId : `${toolUseId}${VERSION_SIGN}${version}`;
}

export function approvalId({ session, agent = '', toolUseId }: ToolCallIdentity, version: number): string {
  return `apr_${digestOf([session, agent, versionedId(toolUseId, version)]).slice(0, 32)}`;
}

/** Under this id further effects of a running call are asked about: the call's own question stays answered. */
export function furtherId(call: GatedToolCall): string {
  return `${call.toolUseId}${FURTHER_SIGN}${digestOf([call.tool, call.input, call.effects]).slice(0, 12)}`;
}

/** Under this id a running call has a person fill in its nth form. */
export function formId(toolUseId: string, form: unknown, nth: number): string {
  return `${toolUseId}${FURTHER_SIGN}${digestOf([form, nth]).slice(0, 12)}`;
}

/** The id of the call itself, as the model knows it. */
export function toolUseIdOf(stored: string): string {
  return stored.replace(SUFFIXES, '');
}

export function digestOfToolCall(call: GatedToolCall): string {
  const { session, principal, agent = '', tool, input, describe, hints, definition } = call;
  const { root, cwd } = call.location;
  const put = hints === undefined || Object.keys(hints).length === 0 ? {} : { hints };
  return digestOf({
    session,
    principal,
    agent,
    tool,
    input,
    root,
    cwd,
    describe,
    ...put,
    definition: definition?.digest,
  });
}
