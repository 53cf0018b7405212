/** "Always": which rule, for what, and what it would have done lately. */
import { useId } from 'react';
import type { RuleScopeWire } from '../../../src/server/console-api/wire/approvals.js';
import { useIdentity } from '../data/identity.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Input } from '../ui/input.js';
import { makeVisible } from '../ui/visible.js';
import { VisibleText } from '../ui/visible-text.js';
import { ButtonRow } from './button-row.js';
import type { FormProps } from './deny-form.js';
import { RulePreviewView, useRulePreview } from './rule-preview.js';
import { strings } from './strings.js';

const SCOPES = ['session', 'project', 'everywhere'] as const;

export function RuleForm({ deciding, draft, change }: FormProps) {
  const text = useText(strings);
  const { approval } = deciding;
  const { suggestions } = approval;
  const admin = useIdentity().can('admin');
  const rule = draft.rule ?? suggestions[0]?.rule ?? '';
  const scope: RuleScopeWire = admin ? draft.scope : 'session';
  const preview = useRulePreview({
    rule: rule.trim(),
    behaviour: draft.behaviour,
    scope,
    session: approval.session,
    project: approval.project,
    approval: approval.id,
  });
  const refused = deciding.problem?.param?.startsWith('rule') === true ? deciding.problem.message : undefined;
  const allow = draft.behaviour === 'allow';
  const shownRule = makeVisible(rule.trim());
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {suggestions.length > 0 && (
        <Choices legend={text.suggestions}>
          {(name) =>
            suggestions.map((suggestion) => (
              <ChoiceInput
                key={suggestion.rule}
                name={name}
                checked={rule === suggestion.rule}
                onChoose={() => change({ rule: suggestion.rule })}
              >
                <span className="font-mono text-xs wrap-anywhere">
                  <VisibleText text={suggestion.rule} />
                </span>
                <span className="block text-xs text-muted">
                  {makeVisible(suggestion.covers)}
                  {suggestion.source === 'engine' && <Badge className="ml-1.5">{text.fromEngine}</Badge>}
                </span>
              </ChoiceInput>
            ))
          }
        </Choices>
      )}
      <Field label={text.rule} hint={text.ruleHint} error={refused ?? preview.syntax}>
        <Input
          value={rule}
          className="font-mono"
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => change({ rule: event.target.value })}
        />
      </Field>
      <div className="grid gap-3 sm:grid-cols-2">
        <Choices legend={text.scopeLabel}>
          {(name) => (
            <>
              {SCOPES.map((each) => (
                <ChoiceInput
                  key={each}
                  name={name}
                  checked={scope === each}
                  disabled={each !== 'session' && !admin}
                  onChoose={() => change({ scope: each })}
                >
                  {text.scope[each]}
                  <span className="block text-xs text-muted wrap-anywhere">
                    {each === 'project'
                      ? text.scopeHint.project(makeVisible(approval.project))
                      : text.scopeHint[each]}
                  </span>
                </ChoiceInput>
              ))}
              {!admin && <p className="text-xs text-muted">{text.adminOnly}</p>}
            </>
          )}
        </Choices>
        <Choices legend={text.behaviour}>
          {(name) => (
            <>
              <ChoiceInput name={name} checked={allow} onChoose={() => change({ behaviour: 'allow' })}>
                {text.behaviourAllow}
              </ChoiceInput>
              <ChoiceInput name={name} checked={!allow} onChoose={() => change({ behaviour: 'deny' })}>
                {text.behaviourDeny}
              </ChoiceInput>
            </>
          )}
        </Choices>
      </div>
      <RulePreviewView preview={preview} />
      <ButtonRow>
        {(guard) => (
          <>
            <Button
              variant={allow ? 'primary' : 'danger'}
              busy={deciding.busy}
              disabled={shownRule === '' || preview.syntax !== undefined}
              className="max-w-full text-left !whitespace-normal wrap-anywhere"
              onClick={guard(
                () =>
                  void deciding.send({
                    decision: draft.behaviour,
                    rule: { rule: rule.trim(), scope, behaviour: draft.behaviour },
                  }),
              )}
            >
              {allow
                ? text.confirmAllow(shownRule, text.where[scope])
                : text.confirmDeny(shownRule, text.where[scope])}
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

function Choices({ legend, children }: { legend: string; children: (name: string) => React.ReactNode }) {
  const name = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      {children(name)}
    </fieldset>
  );
}

interface ChoiceInputProps {
  name: string;
  checked: boolean;
  disabled?: boolean;
  multiple?: boolean;
  onChoose: (checked: boolean) => void;
  children: React.ReactNode;
}

export function ChoiceInput({
  name,
  checked,
  disabled = false,
  multiple = false,
  onChoose,
  children,
}: ChoiceInputProps) {
  return (
    <label
      className={`flex min-w-0 items-start gap-2 rounded-md border px-2.5 py-1.5 text-sm ${
        checked ? 'border-accent bg-info-soft' : 'border-line'
      } ${disabled ? 'opacity-55' : 'cursor-pointer hover:bg-raised'}`}
    >
      <input
        type={multiple ? 'checkbox' : 'radio'}
        name={name}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChoose(event.target.checked)}
        className="mt-1 shrink-0 accent-accent"
      />
      <span className="min-w-0 flex-1">{children}</span>
    </label>
  );
}
