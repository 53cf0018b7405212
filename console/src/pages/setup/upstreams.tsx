/** Who answers, where their keys come from, and those that were connected here, which can be removed. For administrators. */
import { useCallback, useEffect, useState } from 'react';
import type { UpstreamStatusWire } from '../../../../src/server/console-api/wire/status.js';
import type { UpstreamListWire, UpstreamWire } from '../../../../src/server/console-api/wire/upstreams.js';
import { ConnectButton } from '../../connect/connect-button.js';
import { upstreamSentence } from '../../connect/problem-sentences.js';
import { get, remove } from '../../data/api.js';
import { useLanguage, useText } from '../../text/language.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { ErrorNote } from '../../ui/error-note.js';
import { DownloadIcon } from '../../ui/icons.js';
import { Section } from '../../ui/page.js';
import { Skeleton } from '../../ui/skeleton.js';
import { Time } from '../../ui/time.js';
import { toast } from '../../ui/toast.js';
import { ExportUpstreams } from './export-upstreams.js';
import { strings } from './strings.js';
import { upstreamStrings } from './upstream-strings.js';

interface UpstreamsProps {
  /** How those do that were called. */
  statuses: readonly UpstreamStatusWire[];
  /** Something was connected or removed. */
  onChanged: () => void;
}

export function Upstreams({ statuses, onChanged }: UpstreamsProps) {
  const text = useText(upstreamStrings);
  const { list, problem, reload } = useList();
  const [removing, setRemoving] = useState<UpstreamWire>();
  const [exporting, setExporting] = useState(false);
  const changed = () => {
    reload();
    onChanged();
  };
  const stored = list?.filter(({ source }) => source === 'store') ?? [];
  return (
    <Section
      title={text.title}
      intro={text.intro}
      actions={
        <>
          {stored.length > 0 && (
            <Button icon={<DownloadIcon />} onClick={() => setExporting(true)}>
              {text.export}
            </Button>
          )}
          <ConnectButton onConnected={changed} />
        </>
      }
    >
      {problem !== undefined && (
        <ErrorNote
          title={text.failed}
          message={problem}
          action={
            <Button size="small" onClick={reload}>
              {text.tryAgain}
            </Button>
          }
        />
      )}
      {list === undefined && problem === undefined && <Skeleton lines={3} />}
      {list !== undefined && (
        <ul
          aria-label={text.list}
          className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
        >
          {list.map((upstream) => (
            <Row
              key={`${upstream.source} ${upstream.name}`}
              upstream={upstream}
              status={statuses.find(({ name }) => name === upstream.name)}
              onRemove={() => setRemoving(upstream)}
            />
          ))}
        </ul>
      )}
      <Confirm
        open={removing !== undefined}
        title={text.removeTitle(removing?.name ?? '')}
        text={text.removeText(removing?.models?.length ?? 0)}
        action={text.remove}
        onConfirm={async () => {
          const name = removing?.name ?? '';
          await remove(`/api/upstreams/${encodeURIComponent(name)}`);
          toast(text.removed(name), 'ok');
          changed();
        }}
        onClose={() => setRemoving(undefined)}
      />
      <ExportUpstreams open={exporting} onClose={() => setExporting(false)} />
    </Section>
  );
}

const TONES: Record<UpstreamWire['state'], Tone> = { active: 'ok', replaced: 'warn', unusable: 'danger' };
const HEALTH: Record<UpstreamStatusWire['state'], Tone> = { ok: 'ok', failing: 'danger', unknown: 'plain' };

interface RowProps {
  upstream: UpstreamWire;
  status: UpstreamStatusWire | undefined;
  onRemove: () => void;
}

function Row({ upstream, status, onRemove }: RowProps) {
  const text = useText(upstreamStrings);
  const { upstreamStates } = useText(strings).connected;
  const language = useLanguage();
  const { name, source, state, problem, dialect, base_url, models, agent_model, created_at } = upstream;
  const isDemo = dialect === 'demo';
  const isFailing = state === 'active' && status?.state === 'failing';
  const facts = [
    ...(isDemo ? [text.demo] : [keyText(upstream, text), text.sources[source]]),
    ...(models === null ? [] : [text.models(models.length)]),
    ...(agent_model === null ? [] : [text.agentModel(agent_model)]),
  ];
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 font-medium break-all">{name}</span>
          {state === 'active' && !isDemo && status !== undefined ? (
            <Badge tone={HEALTH[status.state]}>{upstreamStates[status.state]}</Badge>
          ) : (
            <Badge tone={TONES[state]}>{text.states[state]}</Badge>
          )}
        </p>
        {base_url !== null && (
          <p className="font-mono text-xs break-all text-muted">
            {base_url} · {dialect}
          </p>
        )}
        <p className="text-muted">
          {facts.join(' · ')}
          {created_at !== null && (
            <>
              {' · '}
              <Time at={created_at} relative /> {text.by(upstream.created_by ?? '')}
            </>
          )}
        </p>
        {state === 'replaced' && <p className="text-warn">{text.replacedText}</p>}
        {problem !== null && <p className="text-danger">{upstreamSentence(problem, language)}</p>}
        {isFailing && status.last_failure !== null && (
          <p className="text-danger">
            {status.last_failure.code} · <Time at={status.last_failure.at} relative />
          </p>
        )}
      </div>
      {source === 'store' && (
        <Button size="small" variant="danger" aria-label={text.removeOf(name)} onClick={onRemove}>
          {text.remove}
        </Button>
      )}
    </li>
  );
}

function keyText(
  { key, key_variable }: UpstreamWire,
  text: { keys: Record<UpstreamWire['key'], string>; keyFrom: (variable: string) => string },
): string {
  return key_variable === null ? text.keys[key] : text.keyFrom(key_variable);
}

function useList() {
  const [list, setList] = useState<UpstreamListWire['data']>();
  const [problem, setProblem] = useState<string>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    get<UpstreamListWire>('/api/upstreams', gone.signal).then(
      ({ data }) => {
        setList(data);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!gone.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => gone.abort(tries);
  }, [tries]);
  const reload = useCallback(() => setTries((count) => count + 1), []);
  return { list, problem, reload };
}
