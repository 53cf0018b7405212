import { type FormEvent, useId, useState } from 'react';
import type {
  RuleBehaviourWire,
  RulePreviewRequest,
  RuleScopeWire,
  RuleWire,
} from '../../../../src/server/console-api/wire/approvals.js';
import type { SessionWire } from '../../../../src/server/console-api/wire/sessions.js';
import { post } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Field } from '../../ui/field.js';
import { Input } from '../../ui/input.js';
import { Select } from '../../ui/select.js';
import { toast } from '../../ui/toast.js';
import { makeVisible } from '../../ui/visible.js';
import { PreviewView, usePreview } from './rule-preview.js';
import { BEHAVIOURS, type RuleDraft } from './rule-types.js';
import { strings } from './strings.js';
import { type KnownSessions, useSessions } from './use-sessions.js';

const SCOPES = ['session', 'project', 'everywhere'] as const satisfies readonly RuleScopeWire[];

interface AddRuleProps {
  /** What it begins with; undefined while it is closed. */
  draft: RuleDraft | undefined;
  onClose: () => void;
  onAdded: () => void;
}

export function AddRule({ draft, onClose, onAdded }: AddRuleProps) {
  // Made anew each time, so that it begins with the draft.
  return draft === undefined ? null : <AddDialog draft={draft} onClose={onClose} onAdded={onAdded} />;
}

function AddDialog({ draft, onClose, onAdded }: AddRuleProps & { draft: RuleDraft }) {
  const text = useText(strings);
  const id = useId();
  const admin = useIdentity().can('admin');
  const known = useSessions(true);
  const [rule, setRule] = useState(draft.rule);
  const [behaviour, setBehaviour] = useState<RuleBehaviourWire>(draft.behaviour);
  const [scope, setScope] = useState<(typeof SCOPES)[number]>(admin ? 'everywhere' : 'session');
  const [chosen, setSession] = useState<string>();
  const [typed, setProject] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const session = chosen ?? known.sessions[0]?.id ?? '';
  const project = typed ?? known.folders[0] ?? '';
  const request: RulePreviewRequest = {
    rule: rule.trim(),
    behaviour,
    scope,
    ...(scope === 'session' ? { session } : {}),
    ...(scope === 'project' ? { project: project.trim() } : {}),
  };
  const whole =
    request.rule !== '' &&
    (scope !== 'session' || session !== '') &&
    (scope !== 'project' || project.trim() !== '');
  const preview = usePreview(whole ? request : undefined);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!whole || busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const made = await post<RuleWire & { released?: string[]; refused?: string[] }>('/api/rules', request);
      const answered = (made.released?.length ?? 0) + (made.refused?.length ?? 0);
      toast(answered === 0 ? text.added : `${text.added} ${text.addedReleased(answered)}`, 'ok');
      onAdded();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.add}
      actions={
        <Button variant="primary" type="submit" form={id} busy={busy} disabled={!whole}>
          {text.save}
        </Button>
      }
    >
      <form id={id} noValidate onSubmit={save} className="flex flex-col gap-4">
        <Field label={text.rule} hint={text.ruleHint}>
          <Input
            value={rule}
            maxLength={2000}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            onChange={(event) => setRule(event.target.value)}
          />
        </Field>
        <div className="flex flex-wrap gap-3">
          <Select
            label={text.behaviour}
            value={behaviour}
            options={BEHAVIOURS.map((value) => ({
              value,
              label: text.behaviours[value],
              hint: text.behaviourHints[value],
            }))}
            onChange={setBehaviour}
          />
          <Select
            label={text.scope}
            value={scope}
            options={SCOPES.map((value) => ({
              value,
              label: text.scopes[value],
              ...(value === 'session' || admin ? {} : { disabled: true, hint: text.needsAdmin }),
            }))}
            onChange={setScope}
          />
        </div>
        <Reach
          scope={scope}
          known={known}
          session={session}
          project={project}
          onSession={setSession}
          onProject={setProject}
        />
        <PreviewView state={preview} />
        {problem !== undefined && <ErrorNote message={problem} />}
      </form>
    </Dialog>
  );
}

function Reach({
  scope,
  known,
  session,
  project,
  onSession,
  onProject,
}: {
  scope: RuleScopeWire;
  known: KnownSessions;
  session: string;
  project: string;
  onSession: (id: string) => void;
  onProject: (folder: string) => void;
}) {
  const text = useText(strings);
  const id = useId();
  if (scope === 'session') {
    if (known.sessions.length === 0) return <p className="text-sm text-muted">{text.noSessions}</p>;
    return (
      <Select
        label={text.session}
        value={session}
        options={known.sessions.map((each) => ({ value: each.id, label: sessionLabel(each) }))}
        onChange={onSession}
      />
    );
  }
  if (scope !== 'project') return null;
  return (
    <Field label={text.project} hint={text.projectHint}>
      <Input
        value={project}
        list={id}
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
        onChange={(event) => onProject(event.target.value)}
      />
      <datalist id={id}>
        {known.folders.map((folder) => (
          <option key={folder} value={folder} />
        ))}
      </datalist>
    </Field>
  );
}

const LABEL_LENGTH = 60;

export function sessionLabel({ title, id, model }: SessionWire): string {
  const name = makeVisible(title ?? id);
  return `${name.length > LABEL_LENGTH ? `${name.slice(0, LABEL_LENGTH)}…` : name} (${model.slice(0, 30)})`;
}
