/** Questions to the user: choices, words of their own, and an answer that goes along with the call. */
import { useId } from 'react';
import { answeredInput, type GivenAnswer, questionsOf } from '../cards/parse/questions.js';
import { LongText } from '../cards/view/long-text.js';
import { ScrollArea } from '../cards/view/scroll-area.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Input } from '../ui/input.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { ButtonRow } from './button-row.js';
import { DenyForm, type FormProps } from './deny-form.js';
import { ChoiceInput } from './rule-form.js';
import { strings } from './strings.js';

const NONE: GivenAnswer = { labels: [], own: '' };

export function QuestionForm({ deciding, draft, change }: FormProps) {
  const text = useText(strings);
  const { approval } = deciding;
  const questions = questionsOf(approval.input);
  const given = (question: string): GivenAnswer => draft.answers.get(question) ?? NONE;
  const give = (question: string, answer: GivenAnswer) =>
    change({ answers: new Map([...draft.answers, [question, answer]]) });
  const answered = questions.some(({ question }) => {
    const { labels, own } = given(question);
    return labels.length > 0 || own.trim() !== '';
  });
  const { detail } = approval.describe;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {detail !== undefined && detail !== '' && (
        <div>
          <p className="text-sm font-medium text-warn">{text.givenAnswers}</p>
          <ScrollArea label={text.givenAnswers}>
            <LongText text={detail} />
          </ScrollArea>
        </div>
      )}
      {questions.map((question) => (
        <Question
          key={question.question}
          question={question}
          answer={given(question.question)}
          onAnswer={(answer) => give(question.question, answer)}
        />
      ))}
      {draft.mode === 'deny' ? (
        <DenyForm deciding={deciding} draft={draft} change={change} confirm={text.dontAnswerConfirm} />
      ) : (
        <ButtonRow>
          {(guard) => (
            <>
              <Button
                variant="primary"
                busy={deciding.busy}
                disabled={!answered}
                onClick={guard(
                  () =>
                    void deciding.send({
                      decision: 'allow',
                      updatedInput: answeredInput(approval.input, draft.answers),
                    }),
                )}
              >
                {text.sendAnswers}
              </Button>
              <Button onClick={() => change({ mode: 'deny' })}>{text.dontAnswer}</Button>
              {!answered && <span className="text-xs text-muted">{text.noAnswerYet}</span>}
            </>
          )}
        </ButtonRow>
      )}
    </div>
  );
}

function Question({
  question: { question, header, multiple, options },
  answer,
  onAnswer,
}: {
  question: ReturnType<typeof questionsOf>[number];
  answer: GivenAnswer;
  onAnswer: (answer: GivenAnswer) => void;
}) {
  const text = useText(strings);
  const name = useId();
  const choose = (label: string, chosen: boolean) => {
    // One answer: choosing takes the place of other words.
    if (!multiple) return onAnswer({ labels: [label], own: '' });
    const others = answer.labels.filter((each) => each !== label);
    const labels = options
      .map((option) => option.label)
      .filter((each) => (chosen && each === label ? true : others.includes(each)));
    onAnswer({ ...answer, labels });
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium wrap-anywhere">
        {header !== '' && <Badge className="mr-2">{makeVisible(header)}</Badge>}
        <VisibleText text={question} />
        {multiple && <span className="block text-xs font-normal text-muted">{text.multiple}</span>}
      </legend>
      {options.map(({ label, description, preview }) => (
        <ChoiceInput
          key={label}
          name={name}
          multiple={multiple}
          checked={answer.labels.includes(label)}
          onChoose={(checked) => choose(label, checked)}
        >
          <span className="font-medium wrap-anywhere">
            <VisibleText text={label} />
          </span>
          {description !== '' && (
            <span className="block text-xs text-muted wrap-anywhere">
              <VisibleText text={description} />
            </span>
          )}
          {preview !== '' && (
            <span className="mt-1 block max-h-40 overflow-auto rounded border border-line bg-code p-2 font-mono text-xs whitespace-pre-wrap">
              <VisibleText text={preview} />
            </span>
          )}
        </ChoiceInput>
      ))}
      <Field label={<span className="text-xs font-normal text-muted">{text.other}</span>}>
        <Input
          value={answer.own}
          placeholder={text.otherPlaceholder}
          onChange={(event) => onAnswer({ labels: multiple ? answer.labels : [], own: event.target.value })}
        />
      </Field>
    </fieldset>
  );
}
