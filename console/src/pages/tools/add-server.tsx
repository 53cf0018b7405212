/** A new MCP server: what the gateway needs to know by its transport, and how connecting went. */
import { type FormEvent, useId, useState } from 'react';
import { post } from '../../data/api.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Dialog } from '../../ui/dialog.js';
import { Disclosure } from '../../ui/disclosure.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Field } from '../../ui/field.js';
import { Input } from '../../ui/input.js';
import { Select } from '../../ui/select.js';
import { Spinner } from '../../ui/spinner.js';
import { TextArea } from '../../ui/text-area.js';
import { Toggle } from '../../ui/toggle.js';
import { PairsEditor } from '../shared/pairs-editor.js';
import type { McpServerWire } from '../shared/tool-types.js';
import { PasteServers } from './paste-servers.js';
import { ServerState } from './server-card.js';
import {
  checkForm,
  configOf,
  EMPTY_FORM,
  type FormField,
  type ServerForm,
  TRANSPORTS,
  yamlOf,
} from './server-form.js';
import { strings } from './strings.js';

interface AddServerProps {
  open: boolean;
  /** Names that there are already. */
  taken: readonly string[];
  onClose: () => void;
  onAdded: () => void;
}

type Progress =
  | { state: 'typing'; problem: string | undefined }
  | { state: 'connecting' }
  | { state: 'over'; server: McpServerWire };

const TYPING: Progress = { state: 'typing', problem: undefined };

export function AddServer({ open, taken, onClose, onAdded }: AddServerProps) {
  const text = useText(strings);
  const id = useId();
  const [form, setForm] = useState<ServerForm>(EMPTY_FORM);
  const [checked, setChecked] = useState(false);
  const [progress, setProgress] = useState<Progress>(TYPING);
  const problems = checkForm(form, taken);
  const close = () => {
    onClose();
    if (progress.state === 'typing') return;
    setForm(EMPTY_FORM);
    setChecked(false);
    setProgress(TYPING);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (Object.keys(problems).length > 0 || progress.state === 'connecting') return;
    setProgress({ state: 'connecting' });
    try {
      const server = await post<McpServerWire>('/api/mcp', {
        name: form.name.trim(),
        config: configOf(form),
      });
      setProgress({ state: 'over', server });
    } catch (error) {
      setProgress({ state: 'typing', problem: error instanceof Error ? error.message : String(error) });
    } finally {
      onAdded();
    }
  };
  const problemOf = (field: FormField): string | undefined => {
    const problem = problems[field];
    return checked && problem !== undefined ? text.problems[problem] : undefined;
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={text.addServer}
      actions={
        progress.state === 'over' ? (
          <Button variant="primary" onClick={close}>
            {text.done}
          </Button>
        ) : (
          <Button variant="primary" type="submit" form={id} busy={progress.state === 'connecting'}>
            {text.add}
          </Button>
        )
      }
    >
      {progress.state === 'over' ? (
        <Outcome server={progress.server} />
      ) : (
        <form id={id} noValidate onSubmit={submit} className="flex flex-col gap-4">
          <PasteServers onFill={setForm} />
          <Fields form={form} onChange={setForm} problemOf={problemOf} />
          {progress.state === 'typing' && progress.problem !== undefined && (
            <ErrorNote message={progress.problem} />
          )}
          {progress.state === 'connecting' && <Spinner label={text.adding} show />}
        </form>
      )}
    </Dialog>
  );
}

function Outcome({ server }: { server: McpServerWire }) {
  const text = useText(strings);
  if (server.state === 'connected')
    return <p role="status">{text.addedOk(server.name, server.tools.length)}</p>;
  return (
    <div role="status" className="flex flex-col gap-2">
      <p className="font-medium">{text.addedBad(server.name)}</p>
      <ServerState server={server} />
    </div>
  );
}

function Fields({
  form,
  onChange,
  problemOf,
}: {
  form: ServerForm;
  onChange: (form: ServerForm) => void;
  problemOf: (field: FormField) => string | undefined;
}) {
  const text = useText(strings);
  const [shown, setShown] = useState(false);
  const set = (change: Partial<ServerForm>) => onChange({ ...form, ...change });
  const pairs =
    form.type === 'stdio'
      ? ({ field: 'env', label: text.env, values: form.env } as const)
      : ({ field: 'headers', label: text.headers, values: form.headers } as const);
  return (
    <>
      <Field label={text.name} hint={text.nameHint} error={problemOf('name')}>
        <Input
          value={form.name}
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Select
        label={text.transport}
        value={form.type}
        options={TRANSPORTS.map((value) => ({ value, label: text.transports[value] }))}
        onChange={(type) => set({ type })}
      />
      {form.type === 'stdio' ? (
        <>
          <Field label={text.command} hint={text.commandHint} error={problemOf('command')}>
            <Input
              value={form.command}
              autoComplete="off"
              spellCheck={false}
              className="font-mono"
              onChange={(event) => set({ command: event.target.value })}
            />
          </Field>
          <Field label={text.args} hint={text.argsHint}>
            <TextArea
              value={form.args}
              rows={3}
              spellCheck={false}
              className="font-mono"
              onChange={(event) => set({ args: event.target.value })}
            />
          </Field>
        </>
      ) : (
        <Field label={text.url} hint={text.urlHint} error={problemOf('url')}>
          <Input
            value={form.url}
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => set({ url: event.target.value })}
          />
        </Field>
      )}
      <PairsEditor
        key={pairs.field}
        label={pairs.label}
        hint={text.secretHint}
        error={problemOf(pairs.field)}
        pairs={pairs.values}
        onChange={(values) => set({ [pairs.field]: values })}
        secret={!shown}
      />
      {pairs.values.length > 0 && <Toggle label={text.showValues} checked={shown} onChange={setShown} />}
      <Disclosure summary={text.more}>
        <div className="flex flex-col gap-4 pt-2 pl-5">
          <Toggle
            label={text.shared}
            hint={text.sharedHint}
            checked={form.shared}
            onChange={(shared) => set({ shared })}
          />
          <Field label={text.timeout} hint={text.timeoutHint} error={problemOf('timeout')}>
            <Input
              value={form.timeout}
              inputMode="numeric"
              autoComplete="off"
              className="max-w-32"
              onChange={(event) => set({ timeout: event.target.value })}
            />
          </Field>
        </div>
      </Disclosure>
      <Disclosure summary={text.yaml}>
        <div className="pt-2">
          <CodeBlock label={text.yaml} text={yamlOf(form)} language="yaml" maxHeight="max-h-48" />
        </div>
      </Disclosure>
    </>
  );
}
