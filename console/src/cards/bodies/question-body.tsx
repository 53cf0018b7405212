/** Questions and plans once they are decided, or as they come: while they wait, the approval asks them. */
import { Markdown } from '../../markdown/markdown.js';
import { useText } from '../../text/language.js';
import { VisibleText } from '../../ui/visible-text.js';
import { questionsOf } from '../parse/questions.js';
import { textField } from '../parse/tool-output.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';
import { type BodyProps, Labelled, ResultText } from './body.js';

export function QuestionBody({ card, input }: BodyProps) {
  const text = useText(strings);
  return (
    <>
      {questionsOf(input.value).map(({ question, options }) => (
        <div key={question} className="text-sm">
          <p className="font-medium wrap-anywhere">
            <VisibleText text={question} />
          </p>
          <ul className="mt-1 list-disc space-y-0.5 pl-5 text-muted" aria-label={text.choices}>
            {options.map(({ label, description }) => (
              <li key={label} className="wrap-anywhere">
                <VisibleText text={description === '' ? label : `${label}: ${description}`} />
              </li>
            ))}
          </ul>
        </div>
      ))}
      <ResultText card={card} />
    </>
  );
}

export function PlanBody({ card, input }: BodyProps) {
  const text = useText(strings);
  const plan = textField(input.value, 'plan') ?? '';
  return (
    <>
      {plan !== '' && (
        <Labelled label={text.plan} copy={plan} copyLabel={text.plan}>
          <ScrollArea label={text.plan} className="bg-surface p-3" maxHeight="max-h-[60vh]">
            <Markdown text={plan} streaming={input.partial} />
          </ScrollArea>
        </Labelled>
      )}
      {card.state !== 'success' && <ResultText card={card} />}
    </>
  );
}

export function ThinkBody({ card, input }: BodyProps) {
  const thought = textField(input.value, 'thought') ?? '';
  return (
    <>
      {thought !== '' && (
        <div className="text-sm text-muted">
          <Markdown text={thought} streaming={input.partial} />
        </div>
      )}
      {card.state === 'error' && <ResultText card={card} />}
    </>
  );
}
