/**
 * How every tool changes a file: plan, show, write. `validateInput`, `describe` and `call` make
 * the same plan; the first state that a plan was made on is the only one that may be replaced, so
 * that what a person was shown is what happens.
 */
import type { Description } from '../../permissions/gate.js';
import { changedError, replaceFile } from '../../workspace/atomic-write.js';
import { FileError } from '../../workspace/file-error.js';
import { type FileVersion, sameVersion } from '../../workspace/file-state.js';
import { encodeText, readTextFile, type TextFile, textProblem } from '../../workspace/text-file.js';
import type { ToolContext } from '../runtime/context.js';
import { ToolError, type Validation } from '../runtime/tool.js';
import type { Region } from './numbered-lines.js';
import { describeTarget, forModel, shortPath, type ToolCallTarget, toToolError } from './tool-call-target.js';
import { unifiedDiff } from './unified-diff.js';

/** What a tool makes of the file as it is. */
export interface Draft {
  text: string;
  /** Where the new text differs, for the snippet in the result. */
  regions: readonly Region[];
  /** What the model should know about how it was done. */
  notes: readonly string[];
}

export interface ChangePlan extends Draft {
  target: ToolCallTarget;
  /** None where the file is new. */
  before: TextFile | undefined;
}

/** Throws ToolError where the change cannot be made. `before` is undefined where there is no file. */
export type Drafter = (before: TextFile | undefined) => Draft | Promise<Draft>;

export async function planChange(
  target: ToolCallTarget,
  context: ToolContext,
  draft: Drafter,
): Promise<ChangePlan> {
  return forModel(async () => {
    const before = await readTextFile(target.real);
    if (before !== undefined) assertRead(target, before.version, context);
    remember(target, before?.version ?? 'absent');
    const drafted = await draft(before);
    const problem = textProblem(drafted.text);
    // A NUL that is already there may stay; one that comes in is a mistake.
    if (problem !== undefined && (before === undefined || textProblem(before.text) === undefined)) {
      throw new ToolError(`The new text ${problem}.`);
    }
    if (before !== undefined && before.text === drafted.text) {
      throw new ToolError(`This would leave ${target.path} exactly as it is: nothing to change.`);
    }
    return { ...drafted, target, before };
  });
}

/** Writes a plan. What it was made on must still be there; throws ToolError otherwise. */
export async function commitChange(plan: ChangePlan, context: ToolContext): Promise<void> {
  const { target, before, text } = plan;
  context.signal.throwIfAborted();
  const bytes = encodeText(text, before?.encoding ?? 'utf-8');
  const version = await forModel(() =>
    context.sandbox.writeApproved({ path: target.real, bytes }, () =>
      replaceFile({ real: target.real, bytes, expected: before?.version ?? 'absent' }),
    ),
  );
  context.files.set(target.real, { ...version, readAt: Date.now() });
}

export async function validateChange(plan: () => Promise<ChangePlan>): Promise<Validation> {
  try {
    await plan();
    return { ok: true };
  } catch (error) {
    if (error instanceof ToolError) return { ok: false, message: error.message };
    throw error;
  }
}

/** A plan that cannot be made is described without its diff: the call itself says what is wrong. */
export async function describeChange(
  verb: string,
  target: ToolCallTarget,
  context: ToolContext,
  plan: () => Promise<ChangePlan>,
): Promise<Description> {
  const description = describeTarget(verb, 'edit', target, context);
  try {
    const { before, text } = await plan();
    const diff = await unifiedDiff(shortPath(target, context), before?.text, text);
    return { ...description, diff: diff.text };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { ...description, detail: error.message };
  }
}

/** For people: the change as it was made. */
export async function changeData(plan: ChangePlan, context: ToolContext): Promise<ChangeData> {
  const { target, before, text } = plan;
  const diff = await unifiedDiff(shortPath(target, context), before?.text, text);
  return {
    path: target.path,
    kind: before === undefined ? 'created' : 'changed',
    diff: diff.text,
    added: diff.added,
    removed: diff.removed,
    ...(target.real === target.path ? {} : { realPath: target.real }),
  };
}

interface ChangeData {
  path: string;
  realPath?: string;
  kind: 'created' | 'changed';
  diff: string;
  added: number;
  removed: number;
}

function assertRead(target: ToolCallTarget, version: FileVersion, context: ToolContext): void {
  const record = context.files.get(target.real);
  if (record === undefined) {
    throw new ToolError(
      `${target.path} exists and has not been read in this session. Read it first, so that nothing is overwritten unseen.`,
    );
  }
  if (!sameVersion(record, version)) throw toToolError(changedError(target.path));
}

function remember(target: ToolCallTarget, version: FileVersion | 'absent'): void {
  target.shown ??= version;
  const { shown } = target;
  const same = shown === 'absent' || version === 'absent' ? shown === version : sameVersion(shown, version);
  if (same) return;
  throw new FileError(
    'changed',
    target.path,
    `${target.path} changed between the approval of this call and its run, so nothing was written. Read it again.`,
  );
}
