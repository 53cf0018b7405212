/** What the rules would say about a call. Nothing runs. */
import { type FormEvent, useMemo, useState } from 'react';
import type {
  RuleTest,
  RuleTestRequest,
  SuggestionWire,
} from '../../../../src/server/console-api/wire/approvals.js';
import { post } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Field } from '../../ui/field.js';
import { Section } from '../../ui/page.js';
import { Select } from '../../ui/select.js';
import { TextArea } from '../../ui/text-area.js';
import { Toggle } from '../../ui/toggle.js';
import { ListState } from '../shared/list-state.js';
import type { ToolWire } from '../shared/tool-types.js';
import { useFetched } from '../shared/use-fetched.js';
import { useQuery } from '../shared/use-query.js';
import { sessionLabel } from './add-rule.js';
import { CallFields } from './call-fields.js';
import { type CallValues, fieldsOf, inputOf, parseJson } from './call-form.js';
import { strings } from './strings.js';
import { TestResult } from './test-result.js';
import { useSessions } from './use-sessions.js';

const FIRST_TOOL = 'Bash';

type Outcome = { state: 'none' } | { state: 'told'; test: RuleTest } | { state: 'failed'; message: string };

export function TestCall({ onSuggestion }: { onSuggestion: (suggestion: SuggestionWire) => void }) {
  const text = useText(strings);
  const may = useIdentity().can('approve');
  const [query, setQuery] = useQuery();
  const tools = useFetched<{ data: ToolWire[] }>('/api/tools');
  const known = useSessions(may);
  const names = useMemo(
    () => (tools.data?.data ?? []).filter((tool) => tool.enabled).map((tool) => tool.name),
    [tools.data],
  );
  const wanted = query.get('tool') ?? FIRST_TOOL;
  const tool = names.includes(wanted) ? wanted : (names[0] ?? wanted);
  const fields = useMemo(
    () => fieldsOf(tools.data?.data.find(({ name }) => name === tool)?.input_schema),
    [tools.data, tool],
  );
  const [values, setValues] = useState<CallValues>({});
  const [asJson, setAsJson] = useState(false);
  const [json, setJson] = useState('{}');
  const [session, setSession] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>({ state: 'none' });

  const toggleJson = (next: boolean) => {
    const made = inputOf(fields, values);
    if (next && made.ok) setJson(JSON.stringify(made.input, null, 2));
    setAsJson(next);
    setWrong(undefined);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const made = asJson ? readJson(json) : inputOf(fields, values);
    setWrong(made.ok ? undefined : made.field);
    if (!made.ok) return;
    setBusy(true);
    const request: RuleTestRequest = { tool, input: made.input, ...(session === '' ? {} : { session }) };
    try {
      setOutcome({ state: 'told', test: await post<RuleTest>('/api/rules/test', request) });
    } catch (error) {
      setOutcome({ state: 'failed', message: error instanceof Error ? error.message : String(error) });
    } finally {
      setBusy(false);
    }
  };
  if (!may) return null;
  return (
    <Section title={text.test} intro={text.testIntro}>
      <ListState
        loading={tools.loading}
        error={tools.error}
        present={tools.data !== undefined}
        onReload={tools.reload}
      >
        <div className="grid gap-4 rounded-lg border border-line bg-surface p-4 lg:grid-cols-2">
          <form noValidate onSubmit={submit} className="flex min-w-0 flex-col gap-3">
            <div className="flex flex-wrap gap-3">
              <Select
                label={text.tool}
                className="w-56"
                value={tool}
                options={names.map((name) => ({ value: name, label: name.slice(0, 80) }))}
                onChange={(name) => {
                  setQuery({ tool: name });
                  setValues({});
                  setJson('{}');
                  setOutcome({ state: 'none' });
                }}
              />
              <Select
                label={text.workspace}
                className="w-56"
                value={session}
                options={[
                  { value: '', label: text.anyWorkspace },
                  ...known.sessions.map((each) => ({ value: each.id, label: sessionLabel(each) })),
                ]}
                onChange={setSession}
              />
            </div>
            {asJson ? (
              <Field label={text.json} error={wrong === undefined ? undefined : text.badJson}>
                <TextArea
                  value={json}
                  rows={6}
                  spellCheck={false}
                  className="font-mono !text-xs"
                  onChange={(event) => setJson(event.target.value)}
                />
              </Field>
            ) : (
              <CallFields
                fields={fields}
                values={values}
                wrong={wrong}
                onChange={(name, value) => setValues((before) => ({ ...before, [name]: value }))}
              />
            )}
            <div className="flex flex-wrap items-center gap-4">
              <Button type="submit" variant="primary" busy={busy}>
                {text.run}
              </Button>
              <Toggle label={text.asJson} checked={asJson} onChange={toggleJson} />
            </div>
          </form>
          <div aria-live="polite" className="min-w-0">
            {outcome.state === 'failed' && <ErrorNote message={outcome.message} />}
            {outcome.state === 'told' && <TestResult test={outcome.test} onSuggestion={onSuggestion} />}
          </div>
        </div>
      </ListState>
    </Section>
  );
}

function readJson(text: string): ReturnType<typeof inputOf> {
  const read = parseJson(text)?.value;
  return typeof read === 'object' && read !== null && !Array.isArray(read)
    ? { ok: true, input: { ...read } }
    : { ok: false, field: 'json' };
}
