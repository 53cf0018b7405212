/** A question about a call as a form for the person at the client, and their answer as a decision. */
import * as z from 'zod';
import { UNSEEN } from '../../core/unseen.js';
import type { Approval, ApprovalCoordinator } from '../../permissions/approvals.js';
import { readAsked } from '../../permissions/coordinator/shown.js';
import type { InputRequiredResult, Server, ServerContext, ServerSdk } from './sdk.js';

/** Of the embedded question. */
const QUESTION = 'approval';

/** Of `elicitation/create`; what is not said counts as a form, as in the revisions before. */
export function takesForms(server: Server): boolean {
  const elicitation = server.getClientCapabilities()?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** As the store has it. */
const describedSchema = z.object({
  title: z.string(),
  command: z.string().optional(),
  diff: z.string().optional(),
  url: z.string().optional(),
  detail: z.string().optional(),
  agent: z.string().optional(),
  /** A yes is no answer to these. */
  questions: z.undefined().optional(),
  form: z.undefined().optional(),
});

/** Undefined where a form cannot show all of it, or a yes would not be an answer. */
export function questionFor(
  sdk: ServerSdk,
  { tool, describe, input }: Approval,
  { requestState, chars, key = QUESTION }: { requestState: string; chars: number; key?: string },
): InputRequiredResult | undefined {
  const { data } = describedSchema.safeParse(describe);
  const { why, place, hints } = readAsked(describe);
  // One press is not what the engine wants for a yes.
  if (data === undefined || hints.defaultToNo === true) return undefined;
  const { title, command, url, diff, detail, agent } = data;
  const parts = [command, url, diff, detail].filter(isSaid);
  const shown = parts.length === 0 ? JSON.stringify(input) : parts.join('\n');
  const around = [
    ['Why it is asked', why],
    ['Folder', place.cwd],
    ['Path', hints.blockedPath],
    ['Reason', hints.reason],
    ['Sub-agent', agent],
  ].flatMap(([name, said]) => (isSaid(said) ? [`${name}: ${said}`] : []));
  const message = visible(
    [`May ${tool} be run? ${title}`, shown, around.join('\n')].filter(isSaid).join('\n\n'),
  );
  if (message.length > chars) return undefined;
  return sdk.inputRequired({
    requestState,
    inputRequests: {
      [key]: sdk.inputRequired.elicit({
        message,
        requestedSchema: {
          type: 'object',
          properties: {
            decision: { type: 'string', title: 'Decision', enum: ['allow', 'deny'] },
            reason: { type: 'string', title: 'Reason', description: 'The model reads it.', maxLength: 2000 },
          },
          required: ['decision'],
        },
      }),
    },
  });
}

const isSaid = (part: string | undefined): part is string => part !== undefined && part !== '';

const UNSEEN_CHARACTERS = new RegExp(UNSEEN.source, 'gu');

/** A client shows the text as it comes, perhaps in a terminal. */
function visible(text: string): string {
  return text.replace(UNSEEN_CHARACTERS, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

const answerSchema = z.object({
  decision: z.enum(['allow', 'deny']),
  reason: z.string().max(2000).optional(),
});

/**
 * Only a clear word decides. A form that was closed, or filled in wrongly, leaves the question to the
 * others who may answer it.
 */
export async function takeAnswer(
  sdk: ServerSdk,
  { mcpReq }: ServerContext,
  shown: { approval: string; digest: string; by: string; key?: string },
  approvals: Pick<ApprovalCoordinator, 'decide'>,
): Promise<void> {
  const { approval, digest, by, key = QUESTION } = shown;
  const answer = sdk.inputResponse(mcpReq.inputResponses, key);
  if (answer.kind !== 'elicit' || answer.action === 'cancel') return;
  const { data } = answerSchema.safeParse(
    answer.action === 'decline' ? { decision: 'deny' } : answer.content,
  );
  if (data === undefined) return;
  const { decision, reason = '' } = data;
  await approvals.decide(approval, {
    decision,
    digest,
    by,
    via: 'mcp',
    ...(reason === '' ? {} : { reason }),
  });
}
