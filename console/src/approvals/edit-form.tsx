/** The input before it runs, to be changed; with what was changed in plain sight. */
import { useDeferredValue, useMemo } from 'react';
import { Labelled } from '../cards/bodies/body.js';
import { rowsOfTexts } from '../cards/parse/diff-rows.js';
import { DiffView } from '../cards/view/diff-view.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { TextArea } from '../ui/text-area.js';
import { ButtonRow } from './button-row.js';
import type { FormProps } from './deny-form.js';
import { editableField, editableText, editedInput } from './edited-input.js';
import { strings } from './strings.js';

const ROWS = { least: 3, most: 16 };

export function EditForm({ deciding, draft, change, confirm }: FormProps & { confirm?: string }) {
  const text = useText(strings);
  const { approval } = deciding;
  const plain = editableField(approval.tool, approval.input);
  const field = draft.asJson ? undefined : plain;
  const original = useMemo(() => editableText(approval.input, field), [approval.input, field]);
  const current = draft.edited ?? original;
  const shown = useDeferredValue(current);
  const rows = useMemo(() => rowsOfTexts(original, shown), [original, shown]);
  const edited = useMemo(() => editedInput(approval.input, field, shown), [approval.input, field, shown]);
  const wrong =
    edited.kind === 'not-json'
      ? text.notJson(edited.message)
      : edited.kind === 'not-object'
        ? text.notObject
        : deciding.problem?.kind === 'refused'
          ? deciding.problem.message
          : undefined;
  const lines = Math.min(ROWS.most, Math.max(ROWS.least, original.split('\n', ROWS.most + 1).length + 1));
  /** Going over to the other form takes along what was changed. */
  const switchForm = () => {
    const next = draft.asJson ? plain : undefined;
    const input = edited.kind === 'changed' ? edited.input : approval.input;
    change({ asJson: !draft.asJson, edited: editableText(input, next) });
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Field label={field === undefined ? text.editJson : text.editField[field]} error={wrong}>
        <TextArea
          value={current}
          rows={lines}
          spellCheck={false}
          className="font-mono !text-xs"
          onChange={(event) => change({ edited: event.target.value })}
        />
      </Field>
      {plain !== undefined && (
        <div>
          <Button
            size="small"
            variant="ghost"
            disabled={edited.kind === 'not-json' || edited.kind === 'not-object'}
            onClick={switchForm}
          >
            {draft.asJson ? text.asText : text.asJson}
          </Button>
        </div>
      )}
      {rows.length > 0 ? (
        <Labelled label={text.editDiff}>
          <DiffView rows={rows} label={text.editDiff} />
        </Labelled>
      ) : (
        <p className="text-xs text-muted">{text.editNothing}</p>
      )}
      <ButtonRow>
        {(guard) => (
          <>
            <Button
              variant="primary"
              busy={deciding.busy}
              disabled={edited.kind !== 'changed' || shown !== current}
              onClick={guard(() => {
                if (edited.kind !== 'changed') return;
                void deciding.send({ decision: 'allow', updatedInput: edited.input });
              })}
            >
              {confirm ?? text.editConfirm}
            </Button>
            <Button variant="ghost" onClick={() => change({ mode: 'buttons' })}>
              {text.back}
            </Button>
          </>
        )}
      </ButtonRow>
    </div>
  );
}
