/**
 * The table of rows. Every group has the same shape:
 *
 *   name, rows     what `--only` takes; a row has a name, a title, a unit, and a goal where there is one
 *   targets        the kinds of targets that it measures (targets/all.mjs)
 *   rounds         how often each is measured
 *   seconds        what that takes on quiet cores; its part of the time, after which no other round is begun
 *   jobs           what one round does, one after the other; `rowsOf(job)` names the rows that it gives
 *   can            which target can do which job, where not all can
 *   open           starts a target as the group needs it: a lane, whose `running.stop()` ends it
 *   measure        one job on one lane, once: `{ row: figure }`. It throws for a wrong answer.
 *   warmUp: false  the first round counts; else it is thrown away
 *   control: false the same build is not measured twice
 *   together: true all lanes are measured at the same time, each at its place
 *
 * A new row is a file here and its line below; what it is held to is in lib/goals.mjs.
 */
import { claudeCode } from './claude-code.mjs';
import { conversation } from './conversation.mjs';
import { openStreamMemory, start } from './footprint.mjs';
import { many } from './many.mjs';
import { native, stored } from './native.mjs';
import { pace } from './pace.mjs';
import { readers } from './readers.mjs';
import { size } from './size.mjs';
import { streamLength } from './stream-length.mjs';
import { translation } from './translation.mjs';

export const GROUPS = [
  translation,
  conversation,
  pace,
  openStreamMemory,
  start,
  native,
  size,
  many,
  stored,
  streamLength,
  readers,
  claudeCode,
];

export const ROWS = GROUPS.flatMap(({ name: group, rows }) => rows.map((row) => ({ ...row, group })));
