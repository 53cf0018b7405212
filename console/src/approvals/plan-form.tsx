import { textField } from '../cards/parse/tool-output.js';
import { ScrollArea } from '../cards/view/scroll-area.js';
import { strings as cardStrings } from '../cards/view/strings.js';
import { Markdown } from '../markdown/markdown.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { ButtonRow } from './button-row.js';
import { DenyForm, type FormProps } from './deny-form.js';
import { EditForm } from './edit-form.js';
import { strings } from './strings.js';

/** A plan to approve, to change, or to send back with what should be different. */
export function PlanForm({ deciding, draft, change }: FormProps) {
  const text = useText(strings);
  const cards = useText(cardStrings);
  const plan = textField(deciding.approval.input, 'plan') ?? deciding.approval.describe.detail ?? '';
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <ScrollArea label={cards.plan} className="bg-surface p-3 text-sm" maxHeight="max-h-[60vh]">
        <Markdown text={plan} />
      </ScrollArea>
      {draft.mode === 'deny' && (
        <DenyForm
          deciding={deciding}
          draft={draft}
          change={change}
          label={text.feedback}
          confirm={text.keepPlanningConfirm}
        />
      )}
      {draft.mode === 'edit' && (
        <EditForm deciding={deciding} draft={draft} change={change} confirm={text.approveEdited} />
      )}
      {draft.mode === 'buttons' && (
        <ButtonRow>
          {(guard) => (
            <>
              <Button
                variant="primary"
                busy={deciding.busy}
                onClick={guard(() => void deciding.send({ decision: 'allow' }))}
              >
                {text.approvePlan}
              </Button>
              <Button onClick={() => change({ mode: 'deny' })}>{text.keepPlanning}</Button>
              <Button variant="ghost" onClick={() => change({ mode: 'edit' })}>
                {text.editPlan}
              </Button>
            </>
          )}
        </ButtonRow>
      )}
    </div>
  );
}
