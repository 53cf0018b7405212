import { type RefCallback, useEffect, useRef, useState } from 'react';
import type { UpstreamListWire } from '../../../src/server/console-api/wire/upstreams.js';
import { useLanguage, useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Disclosure } from '../ui/disclosure.js';
import { ErrorNote } from '../ui/error-note.js';
import { Field } from '../ui/field.js';
import { CheckIcon, ChevronLeftIcon } from '../ui/icons.js';
import { Input } from '../ui/input.js';
import { Select } from '../ui/select.js';
import { Spinner } from '../ui/spinner.js';
import { TextArea } from '../ui/text-area.js';
import { type ConnectForm, DIALECTS, type Starting } from './connect-form.js';
import { strings } from './form-strings.js';
import { ModelChoice } from './model-choice.js';
import { upstreamSentence } from './problem-sentences.js';
import { type Details, useDetails } from './use-details.js';

interface DetailsFormProps {
  starting: Starting;
  form: ConnectForm;
  list: UpstreamListWire;
  onBack: () => void;
  onConnected: (name: string, model: string | undefined) => void;
}

export function DetailsForm({ starting, form: start, list, onBack, onConnected }: DetailsFormProps) {
  const text = useText(strings);
  const details = useDetails(starting, start, list, onConnected);
  const { form, doing, tested, typing, said, problem, refused, ready, set } = details;
  const [unfolded, setUnfolded] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const first = useRef<HTMLElement>(null);
  const asFirst = (field: HTMLElement | null) => {
    first.current = field;
  };
  // The dialog stays open between the steps, so it does not move the focus itself.
  useEffect(() => first.current?.focus(), []);
  const isFoldWrong = (said.address ?? said.key ?? said.variable) !== undefined;
  // It stays open while somebody corrects what is wrong in it.
  if (isFoldWrong && !unfolded) setUnfolded(true);
  useEffect(() => {
    if (refused === 0) return;
    const wrong = element.current?.querySelector('[aria-invalid=true]');
    // A list takes the focus at the option that Tab leads to.
    const target = wrong?.querySelector('[tabindex="0"]') ?? wrong;
    if (target instanceof HTMLElement) target.focus();
  }, [refused]);
  const testWord = tested === undefined ? text.test : text.testAgain;
  const known = starting.kind === 'provider';
  const address = (
    <Field
      key="address"
      label={text.address}
      hint={starting.kind === 'other' ? text.addressHint : undefined}
      error={said.address}
    >
      <Input
        ref={starting.kind === 'other' ? asFirst : undefined}
        value={form.address}
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
        onChange={(event) => set({ address: event.target.value })}
      />
    </Field>
  );
  const key = <KeyField key="key" details={details} asFirst={known ? asFirst : undefined} />;
  return (
    <form
      ref={element}
      noValidate
      autoComplete="off"
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void (ready ? details.connect() : details.test());
      }}
    >
      {starting.kind === 'other' && (
        <Select
          label={text.dialect}
          value={form.dialect}
          options={DIALECTS.map((value) => ({ value, label: text.dialects[value] }))}
          onChange={(dialect) => set({ dialect })}
        />
      )}
      {starting.kind === 'provider' && [key, address]}
      {starting.kind === 'other' && [address, key]}
      {starting.kind === 'local' && (
        <Disclosure summary={text.addressAndKey} open={unfolded} onToggle={setUnfolded}>
          <div className="flex flex-col gap-4 pt-2 pl-5">{[address, key]}</div>
        </Disclosure>
      )}
      <div role="status" className="empty:-mb-4">
        {doing === 'testing' && <Spinner label={text.testing} show />}
        {doing !== 'testing' && tested?.ok === true && tested.models !== null && tested.models.length > 0 && (
          <p className="flex items-center gap-1.5 font-medium text-ok">
            <CheckIcon /> {text.found(tested.models.length)}
          </p>
        )}
      </div>
      {tested !== undefined && (tested.models ?? []).length === 0 && !typing && (
        <Button
          variant="ghost"
          size="small"
          className="-mt-2 -ml-2 self-start !text-accent"
          onClick={details.typeNames}
        >
          {text.nameYourself}
        </Button>
      )}
      {ready && <Chosen details={details} asFirst={starting.kind === 'local' ? asFirst : undefined} />}
      {problem !== undefined && <ErrorNote title={text.notConnected} message={problem} />}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex flex-wrap justify-end gap-2 rounded-b-lg border-t border-line bg-surface px-4 py-3">
        <Button className="mr-auto" icon={<ChevronLeftIcon />} onClick={onBack}>
          {text.back}
        </Button>
        {ready && (
          <Button busy={doing === 'testing'} onClick={() => void details.test()}>
            {testWord}
          </Button>
        )}
        <Button variant="primary" type="submit" busy={doing === (ready ? 'connecting' : 'testing')}>
          {ready ? text.connect : testWord}
        </Button>
      </div>
    </form>
  );
}

function KeyField({ details, asFirst }: { details: Details; asFirst: RefCallback<HTMLElement> | undefined }) {
  const text = useText(strings);
  const language = useLanguage();
  const { starting, form, list, said, set } = details;
  const isTyped = form.keyFrom === 'typed';
  const isFound = list.providers.some(
    ({ key_variable, key_is_set }) => key_is_set && key_variable === form.variable.trim(),
  );
  return (
    <div className="flex flex-col items-start gap-1 [&>:first-child]:w-full">
      {isTyped ? (
        <Field
          label={text.key}
          hint={starting.kind === 'provider' ? text.keyHint : text.keyOptional}
          error={said.key}
        >
          <Input
            key="typed"
            ref={asFirst}
            type="password"
            value={form.key}
            autoComplete="new-password"
            autoCapitalize="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => set({ key: event.target.value })}
          />
        </Field>
      ) : (
        <Field
          label={text.variable}
          hint={
            list.key_obstacle === null
              ? isFound
                ? text.variableFound
                : text.variableHint
              : upstreamSentence(list.key_obstacle, language)
          }
          error={said.variable}
        >
          <Input
            key="variable"
            ref={asFirst}
            value={form.variable}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => set({ variable: event.target.value })}
          />
        </Field>
      )}
      {list.key_obstacle === null && (
        <Button
          variant="ghost"
          size="small"
          className="-ml-2 !text-accent"
          onClick={() => set({ keyFrom: isTyped ? 'environment' : 'typed' })}
        >
          {isTyped ? text.useVariable : text.useTyped}
        </Button>
      )}
    </div>
  );
}

/** Which of its models, which one for agents, and how it is called here. */
function Chosen({ details, asFirst }: { details: Details; asFirst: RefCallback<HTMLElement> | undefined }) {
  const text = useText(strings);
  const { form, tested, typing, models, agentModel, said, set, starting } = details;
  const offered = tested?.models ?? [];
  return (
    <>
      {typing && offered.length === 0 ? (
        <Field label={text.typedModels} hint={text.typedModelsHint} error={said.models}>
          <TextArea
            rows={3}
            value={form.typedModels}
            spellCheck={false}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => set({ typedModels: event.target.value })}
          />
        </Field>
      ) : (
        <ModelChoice
          offered={offered}
          suggested={starting.suggested}
          chosen={form.models}
          error={said.models}
          asFirst={asFirst}
          onChange={(chosen) => set({ models: chosen })}
        />
      )}
      {models.length > 1 && agentModel !== undefined && (
        <div className="flex flex-col gap-1">
          <Select
            label={text.agentModel}
            value={agentModel}
            options={models.map((value) => ({ value, label: value }))}
            onChange={(model) => set({ agentModel: model })}
          />
          <p className="text-xs text-muted">{text.agentModelHint}</p>
          {said.agent !== undefined && <p className="text-xs font-medium text-danger">{said.agent}</p>}
        </div>
      )}
      <Field label={text.name} hint={text.nameHint} error={said.name}>
        <Input
          value={form.name}
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
    </>
  );
}
