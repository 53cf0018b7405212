import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { TextArea } from '../ui/text-area.js';
import { ButtonRow } from './button-row.js';
import type { Draft } from './drafts.js';
import { strings } from './strings.js';
import type { Deciding } from './use-decision.js';

/** As many as the gateway takes. */
const LONGEST_REASON = 10_000;

export interface FormProps {
  deciding: Deciding;
  draft: Draft;
  change: (change: Partial<Draft>) => void;
}

interface DenyFormProps extends FormProps {
  label?: string | undefined;
  confirm?: string | undefined;
}

export function DenyForm({ deciding, draft, change, label, confirm }: DenyFormProps) {
  const text = useText(strings);
  const reason = draft.reason.trim();
  return (
    <div className="flex flex-col gap-2">
      <Field label={label ?? text.reason} hint={text.reasonHint}>
        <TextArea
          value={draft.reason}
          maxLength={LONGEST_REASON}
          onChange={(event) => change({ reason: event.target.value })}
        />
      </Field>
      <ButtonRow>
        {(guard) => (
          <>
            <Button
              variant="danger"
              busy={deciding.busy}
              onClick={guard(
                () => void deciding.send({ decision: 'deny', ...(reason === '' ? {} : { reason }) }),
              )}
            >
              {confirm ?? text.denyConfirm}
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
